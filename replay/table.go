package replay

import (
	"fmt"
	"sort"
)

// table is a map that is a value: setting a key gives a new table and leaves the
// old one as it was. It is a log of settings and how much of it counts. The newest
// table writes on in place; an older one, from which a branch begins, copies what
// it holds first. So a State costs nothing to keep, and a step the time of what it
// changes. The zero table is empty.
type table[V any] struct {
	log  *settings[V]
	n    int // settings of the log that count
	size int // keys that have a value
}

type settings[V any] struct {
	list []setting[V]
	at   map[string][]int // where each key was set, ascending
	// first holds the first place of each key, one behind the other.
	first []int
}

type setting[V any] struct {
	key   string
	value V
	set   bool // false: taken back
}

// find is the index of the setting of a key that counts, -1 if there is none.
func (t table[V]) find(key string) int {
	if t.n == 0 {
		return -1
	}
	at := t.log.at[key]
	k := len(at)
	if k > 0 && at[k-1] >= t.n {
		k = sort.SearchInts(at, t.n)
	}
	if k == 0 || !t.log.list[at[k-1]].set {
		return -1
	}
	return at[k-1]
}

func (t table[V]) empty() bool { return t.size == 0 }

func (t table[V]) has(key string) bool { return t.find(key) >= 0 }

func (t table[V]) get(key string) (value V, ok bool) {
	if i := t.find(key); i >= 0 {
		return t.log.list[i].value, true
	}
	return value, false
}

// grown is the table with room for n more keys, if it is empty.
func (t table[V]) grown(n int) table[V] {
	if t.log == nil {
		t.log = &settings[V]{list: make([]setting[V], 0, n), at: make(map[string][]int, n), first: make([]int, 0, n)}
	}
	return t
}

// with is the table with a key set.
func (t table[V]) with(key string, value V) table[V] {
	return t.write(setting[V]{key, value, true})
}

// without is the table without a key.
func (t table[V]) without(key string) table[V] {
	if t.find(key) < 0 {
		return t
	}
	return t.write(setting[V]{key: key})
}

func (t table[V]) write(s setting[V]) table[V] {
	switch {
	case t.log == nil:
		t.log = &settings[V]{at: map[string][]int{}}
	case t.n < len(t.log.list):
		t = tableOf(t.entries())
	}
	if t.log == nil {
		t.log = &settings[V]{at: map[string][]int{}}
	}
	if t.find(s.key) >= 0 {
		t.size--
	}
	if s.set {
		t.size++
	}
	if at := t.log.at[s.key]; at != nil {
		t.log.at[s.key] = append(at, t.n)
	} else {
		t.log.first = append(t.log.first, t.n)
		n := len(t.log.first)
		t.log.at[s.key] = t.log.first[n-1 : n : n]
	}
	t.log.list = append(t.log.list, s)
	t.n++
	return t
}

// entries are the settings that count, the latest first.
func (t table[V]) entries() []setting[V] {
	var out []setting[V]
	for i := t.n - 1; i >= 0; i-- {
		if s := t.log.list[i]; t.find(s.key) == i {
			out = append(out, s)
		}
	}
	return out
}

// oldestFirst calls do with the keys that have a value, in the order in which they got
// it.
func (t table[V]) oldestFirst(do func(key string, value V)) {
	for i := range t.n {
		if s := &t.log.list[i]; t.find(s.key) == i {
			do(s.key, s.value)
		}
	}
}

// String lists the entries, whatever the log holds beside them.
func (t table[V]) String() string { return fmt.Sprintf("%+v", t.entries()) }

// values are the values, the latest set first.
func (t table[V]) values() []V {
	entries := t.entries()
	out := make([]V, len(entries))
	for i := range entries {
		out[i] = entries[i].value
	}
	return out
}

// tableOf is a table with entries, the latest first.
func tableOf[V any](entries []setting[V]) table[V] {
	var t table[V]
	for i := len(entries) - 1; i >= 0; i-- {
		t = t.write(entries[i])
	}
	return t
}

// loaded are the full bodies in the context, in order: a list that is a value, as a
// table is.
type loaded struct {
	log *bodies
	n   int // bodies of the log that count
}

type bodies struct {
	list  []LoadedBody
	first map[sameBody]int // where each text of each skill came first
}

type sameBody struct{ key, text string }

// with is the list with one more body.
func (l loaded) with(b LoadedBody) loaded {
	if l.log == nil || l.n < len(l.log.list) {
		log := &bodies{first: map[sameBody]int{}}
		if l.log != nil {
			log.list = append(log.list, l.log.list[:l.n]...)
			for i := range log.list {
				log.note(i)
			}
		}
		l.log = log
	}
	l.log.list = append(l.log.list, b)
	l.log.note(l.n)
	l.n++
	return l
}

func (b *bodies) note(i int) {
	k := sameBody{b.list[i].Key, b.list[i].Text}
	if _, ok := b.first[k]; !ok {
		b.first[k] = i
	}
}

// holds reports whether one of the first n bodies is this text of this skill.
func (l loaded) holds(key, text string, n int) bool {
	if l.log == nil {
		return false
	}
	i, ok := l.log.first[sameBody{key, text}]
	return ok && i < min(n, l.n)
}

// String lists the bodies.
func (l loaded) String() string { return fmt.Sprintf("%+v", l.all()) }

func (l loaded) all() []LoadedBody {
	if l.log == nil {
		return nil
	}
	return l.log.list[:l.n]
}
