package lexical

import (
	"cmp"
	"math"
	"slices"
)

// The two constants of BM25, with the values that most programs have: how soon more of
// one word counts no more, and how much the length of a text counts.
const (
	k1 = 1.2
	b  = 0.75
)

// Index holds texts by their words. It does not change once it is made.
type Index struct {
	length   []int // of each text, in words
	total    int
	postings map[string][]posting
}

// posting says that a text holds a word, and how often.
type posting struct{ text, count int }

// Document is a text of which a part counts more.
type Document struct{ Text, Emphasis string }

// emphasis is how often a word of a document's emphasis counts.
const emphasis = 2

// New makes an index of texts.
func New(texts []string) *Index {
	docs := make([]Document, len(texts))
	for i := range texts {
		docs[i].Text = texts[i]
	}
	return NewWeighted(docs)
}

// NewWeighted makes an index of documents.
func NewWeighted(docs []Document) *Index {
	x := &Index{length: make([]int, len(docs)), postings: map[string][]posting{}}
	for i := range docs {
		add := func(text string, times int) {
			each(text, func(w string) {
				x.length[i]++
				list := x.postings[w]
				if n := len(list); n > 0 && list[n-1].text == i {
					list[n-1].count += times
					return
				}
				x.postings[w] = append(list, posting{i, times})
			})
		}
		add(docs[i].Text, 1)
		add(docs[i].Emphasis, emphasis)
		x.total += x.length[i]
	}
	return x
}

// Len is the number of texts.
func (x *Index) Len() int { return len(x.length) }

// weight is the inverse document frequency of a word that n texts hold, 0 for one that
// all of several texts hold: it does not tell them apart.
func (x *Index) weight(n int) float64 {
	if n > 1 && n == len(x.length) {
		return 0
	}
	return math.Log(1 + (float64(len(x.length)-n)+0.5)/(float64(n)+0.5))
}

// Scores are the BM25 scores of all texts for a query, 0 where no word is shared that
// tells texts apart: common ones do not, nor those that stand in all texts. A word of
// the query counts once, however often it stands there.
func (x *Index) Scores(query string) []float64 {
	scores := make([]float64, len(x.length))
	if x.total == 0 {
		return scores
	}
	mean := float64(x.total) / float64(len(x.length))
	for _, w := range telling(query) {
		list := x.postings[w]
		idf := x.weight(len(list))
		for _, p := range list {
			n := float64(p.count)
			// One operation at a time: fused ones differ from machine to machine.
			norm := float64(b * (float64(x.length[p.text]) / mean))
			denominator := n + float64(k1*float64((1-b)+norm))
			scores[p.text] += float64(idf * (float64(n*(k1+1)) / denominator))
		}
	}
	return scores
}

// Rank is the place of one text among all for a query, from 1, and its score. Texts
// with equal scores share the better place; 0 where no word is shared that tells texts
// apart.
func (x *Index) Rank(query string, text int) (rank int, score float64) {
	scores := x.Scores(query)
	score = scores[text]
	if score == 0 {
		return 0, 0
	}
	rank = 1
	for _, s := range scores {
		if s > score {
			rank++
		}
	}
	return rank, score
}

// Shared are the words that a query and a text of the index have in common, but for
// common ones: the rarest of the index first, then by their letters.
func (x *Index) Shared(query string, text int) []string {
	var out []string
	for _, w := range telling(query) {
		if slices.ContainsFunc(x.postings[w], func(p posting) bool { return p.text == text }) {
			out = append(out, w)
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		return cmp.Or(cmp.Compare(len(x.postings[a]), len(x.postings[b])), cmp.Compare(a, b))
	})
	return out
}

// telling are the words of a text, each once, in order, without those that nearly every
// text of its language has.
func telling(text string) []string {
	seen := map[string]bool{}
	var out []string
	own := smallWords(Language(text))
	each(text, func(w string) {
		if !seen[w] && !Common(w) && !own[w] {
			seen[w] = true
			out = append(out, w)
		}
	})
	return out
}
