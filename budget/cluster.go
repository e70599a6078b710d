package budget

// property is what is known of a code point for widths: how it joins its
// neighbours into grapheme clusters, how wide it is alone, and whether Bun holds
// it for an emoji.
type property uint8

// class is the part of a code point in the rules of Unicode's grapheme clusters
// (UAX #29, with Indic conjuncts).
type class uint8

const (
	classOther class = iota
	classControl
	classExtend // extends any cluster, Indic conjuncts too
	classLinker
	classConsonant
	classZWNJ // extends, but ends an Indic conjunct
	classZWJ
	classSpacing
	classPrepend
	classPictographic
	classModifierBase // a pictograph that takes a skin tone
	classModifier     // a skin tone
	classRegionalIndicator
	classL
	classV
	classT
	classLV
	classLVT
)

func (p property) class() class { return class(p & 0x1F) }
func (p property) width() int   { return int(p>>5) & 3 }
func (p property) emoji() bool  { return p&0x80 != 0 }

func (p property) isPictographic() bool { return p.class().pictographic() }

func (c class) pictographic() bool { return c == classPictographic || c == classModifierBase }

// pageOf is, for each block of 256 code points, the last range that begins at or
// before it.
var pageOf = func() (pages [0x1101]uint16) {
	i := 0
	for page := range pages {
		for i+1 < len(clusterRanges) && clusterRanges[i+1]>>8 <= uint32(page)<<8 {
			i++
		}
		pages[page] = uint16(i)
	}
	return pages
}()

func propertyOf(r rune) property {
	if r >= ' ' && r < 0x7F {
		return property(classOther) | 1<<5
	}
	lo, hi := int(pageOf[r>>8]), int(pageOf[r>>8+1])
	for lo < hi { // the last range that begins at or before r
		mid := int(uint(lo+hi+1) >> 1)
		if rune(clusterRanges[mid]>>8) <= r {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return property(clusterRanges[lo])
}

// breaker finds the borders of grapheme clusters in a stream of classes. The
// zero value stands before a text.
type breaker struct {
	// bun: the borders of Bun's own segmentation. A skin tone extends only a
	// pictograph that takes one (in Unicode, any cluster), and a control may be
	// extended.
	bun bool

	started   bool
	prev      class
	flags     int  // regional indicators in a row up to prev
	pictogram bool // prev ends a pictograph and its extensions
	joined    bool // ... and a joiner
	conjunct  bool // prev ends a consonant and its extensions
	linked    bool // ... with a linker among them
}

// breaksBefore reports whether a code point of class c begins a new cluster, and
// takes it in. It is false at the start of a text.
func (b *breaker) breaksBefore(c class) bool {
	breaks := b.started && !b.joins(c)
	switch {
	case c.pictographic():
		b.pictogram, b.joined = true, false
	case c == classZWJ:
		b.joined = b.pictogram
		b.pictogram = false
	case b.extends(c):
		b.joined = false
	default:
		b.pictogram, b.joined = false, false
	}
	switch c {
	case classConsonant:
		b.conjunct, b.linked = true, false
	case classLinker:
		b.linked = b.conjunct
	case classExtend, classZWJ:
	default:
		b.conjunct, b.linked = false, false
	}
	if c == classRegionalIndicator {
		b.flags++
	} else {
		b.flags = 0
	}
	b.prev, b.started = c, true
	return breaks
}

func (b *breaker) extends(c class) bool {
	switch c {
	case classExtend, classLinker, classZWNJ:
		return true
	case classModifier:
		return !b.bun || b.prev == classModifierBase
	}
	return false
}

// joins reports whether a code point of class c stays in the cluster of prev.
func (b *breaker) joins(c class) bool {
	p := b.prev
	switch {
	case !b.bun && (p == classControl || c == classControl):
		return false
	case p == classL && (c == classL || c == classV || c == classLV || c == classLVT),
		(p == classLV || p == classV) && (c == classV || c == classT),
		(p == classLVT || p == classT) && c == classT:
		return true
	case c == classZWJ || c == classSpacing || b.extends(c):
		return true
	case p == classPrepend:
		return true
	case c == classConsonant && b.linked:
		return true
	case c.pictographic() && b.joined:
		return true
	case c == classRegionalIndicator && b.flags%2 == 1:
		return true
	}
	return false
}

// nextCluster is the length in bytes of the first grapheme cluster of s, which is
// not empty, as Unicode has it; but CR and LF stand apart, which changes no width.
// The border of a cluster depends on nothing before the cluster.
func nextCluster(s string) int {
	var b breaker
	for i := 0; i < len(s); {
		r, size := decodeWTF8(s[i:])
		c := classControl // a lone surrogate stands alone
		if !isSurrogate(r) {
			c = propertyOf(r).class()
		}
		if b.breaksBefore(c) {
			return i
		}
		i += size
	}
	return len(s)
}
