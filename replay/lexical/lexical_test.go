package lexical

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"
)

var texts = []struct{ text, words, language string }{
	{"", "", ""},
	{"Run the pending migration.", "run the pending migration", "Latin letters"},
	{"Run the migration of the shop", "run the migration of the shop", "English"},
	{"db-migrate db_migrate plug:db", "db migrate db migrate plug db", "Latin letters"},
	{"don’t stop, it's O'Neil's'", "don't stop it's o'neil's", ""},
	{"Führe die Migration für mich aus", "führe die migration für mich aus", "German"},
	{"Exécute la migration des données pour nous", "exécute la migration des données pour nous", "French"},
	{"ejecuta las migraciones de la base en el servidor", "ejecuta las migraciones de la base en el servidor", "Spanish"},
	{"执行数据库迁移", "执行 行数 数据 据库 库迁 迁移", "Chinese"},
	{"用 git 提交", "用 git 提交", "Han characters"},
	{"目的地検索", "目的 的地 地検 検索", "Han characters"}, // Japanese, and nothing says so
	{"請帮我說明", "請帮 帮我 我說 說明", "Chinese"},
	{"データを移行する", "デー ータ タを を移 移行 行す する", "Japanese"},
	{"마이그레이션 실행", "마이 이그 그레 레이 이션 실행", "Korean"},
	{"выполни миграцию", "выполни миграцию", "Cyrillic letters"},
	{"نفّذ الترحيل", "نفّذ الترحيل", "Arabic letters"},
	{"εκτέλεσε τη μετάβαση", "εκτέλεσε τη μετάβαση", "Greek"},
	{"रन करो", "रन करो", "Devanagari letters"},
	{"x", "x", ""},
	{"v2.1.332 1,000", "v2 1 332 1 000", ""},
	{"\xff\xed\xa0\x80bad", "bad", ""},
}

func TestWords(t *testing.T) {
	for _, tt := range texts {
		if got := strings.Join(Words(tt.text), " "); got != tt.words {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.words)
		}
		if got := Language(tt.text); tt.language != "" && got != tt.language {
			t.Errorf("%q: %q, want %q", tt.text, got, tt.language)
		}
	}
	if n := len(Words(strings.Repeat("a", 1000))[0]); n != maxWord {
		t.Errorf("a word of %d", n)
	}
	if Language("") != "" || Language("42 !") != "" {
		t.Error("a language without letters")
	}
}

func TestForeign(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want bool
	}{
		{"Chinese", "English", true}, {"English", "Chinese", true}, {"German", "English", true}, {"Latin letters", "English", false},
		{"English", "Latin letters", false}, {"Latin letters", "Chinese", true}, {"", "English", false}, {"Latin letters", "Latin letters", false},
		{"Han characters", "Japanese", false}, {"Chinese", "Han characters", false}, {"Han characters", "English", true}, {"Cyrillic letters", "Latin letters", true},
	} {
		if got := Foreign(tt.a, tt.b); got != tt.want {
			t.Errorf("%s and %s: %v", tt.a, tt.b, got)
		}
	}
}

func TestIndex(t *testing.T) {
	x := New([]string{
		"db-migrate Runs pending database migrations.",
		"deploy Puts the site online.",
		"commit Writes a commit message for the pending changes.",
		"empty",
		"",
	})
	if x.Len() != 5 {
		t.Error(x.Len())
	}
	const query = "please run the pending migrations, the pending ones"
	rank, score := x.Rank(query, 0)
	if rank != 1 {
		t.Errorf("rank %d", rank)
	}
	if rank, _ := x.Rank(query, 2); rank != 2 {
		t.Errorf("commit ranks %d: %v", rank, x.Scores(query))
	}
	if rank, score := x.Rank(query, 3); rank != 0 || score != 0 {
		t.Errorf("nothing shared: %d, %f", rank, score)
	}
	if got := fmt.Sprint(x.Shared(query, 0)); got != "[migrations pending]" {
		t.Error(got)
	}
	if got := x.Shared("the a of", 1); got != nil {
		t.Error(got)
	}
	// What nearly every text has, in its language, or all texts of the index, gives no
	// place.
	plain := New([]string{"the of skill one", "the skill two", "de la skill three 我们 한국어 해줘"})
	for i, tt := range []struct {
		query string
		text  int
	}{{"fix the skill", 0}, {"the", 1}, {"ejecuta la prueba de los datos", 2}, {"我们", 2}, {"해줘", 2}} {
		if rank, score := plain.Rank(tt.query, tt.text); rank != 0 || score != 0 {
			t.Errorf("%d %q ranks %d, score %v", i, tt.query, rank, score)
		}
	}
	if rank, _ := plain.Rank("the skill two", 1); rank != 1 {
		t.Errorf("two ranks %d", rank)
	}
	if got := fmt.Sprint(plain.Shared("the skill", 0)); got != "[skill]" {
		t.Errorf("shares %s", got)
	}
	// By hand: N=5, mean length 21/5.
	idf := func(n float64) float64 { return math.Log(1 + (5-n+0.5)/(n+0.5)) }
	norm := 1 + 1.2*(1-0.75+0.75*6/(21/5.0))
	if want := (idf(2)*2.2 + idf(1)*2.2) / norm; math.Abs(score-want) > 1e-12 {
		t.Errorf("score %v, want %v; lengths %v of %d", score, want, x.length, x.total)
	}
	// Equal texts share their place.
	same := New([]string{"x y", "x y", "z"})
	for i := range 2 {
		if rank, _ := same.Rank("y", i); rank != 1 {
			t.Errorf("text %d ranks %d", i, rank)
		}
	}
	if got := New(nil).Scores("x"); len(got) != 0 {
		t.Error(got)
	}
	if got := New([]string{""}).Scores("x"); got[0] != 0 {
		t.Error(got)
	}
}

func FuzzWords(f *testing.F) {
	for _, tt := range texts {
		f.Add(tt.text, "run the migration")
	}
	f.Fuzz(func(t *testing.T, text, query string) {
		for _, w := range Words(text) {
			if w == "" || !utf8.ValidString(w) || strings.ContainsAny(w, " \n.,") {
				t.Errorf("word %q", w)
			}
		}
		x := New([]string{text, query})
		for i, s := range x.Scores(query) {
			if s < 0 || math.IsNaN(s) || math.IsInf(s, 0) {
				t.Errorf("score %f", s)
			}
			if shared := x.Shared(query, i); len(shared) == 0 && s > 0 {
				t.Errorf("a score of %f without a word", s)
			}
		}
		Language(text)
	})
}

func BenchmarkIndex(b *testing.B) {
	texts := make([]string, 1000)
	size := 0
	for i := range texts {
		texts[i] = fmt.Sprintf("skill-%d Runs task number %d for the team and writes a report of what was done.", i, i%37)
		size += len(texts[i])
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		New(texts).Scores("write the report of task 12 for the team")
	}
}
