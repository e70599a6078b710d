package frontmatter

// flow parses a collection in [] or {} below a block collection at column parent.
func (p *parser) flow(parent int) Value {
	defer func(d, f int, l bool) { p.depth, p.flows, p.inList = d, f, l }(p.depth, p.flows, p.inList)
	p.flows++
	open, shut := p.i, byte(']')
	isMap := p.at('{')
	if isMap {
		shut = '}'
	}
	p.inList = !isMap
	m := mapBuilder{parser: p, root: isMap && p.depth == 1}
	list := Value{Kind: List}
	if !p.enter() {
		return Value{}
	}
	p.i++
	for {
		p.flowGap(parent)
		if p.at(shut) {
			break
		}
		at := p.i
		k, v, pair := p.flowEntry(parent, isMap)
		switch {
		case isMap:
			m.add(k, v, at)
		case pair:
			one := mapBuilder{parser: p}
			one.add(k, v, at)
			list.Items = append(list.Items, one.value())
		default:
			list.Items = append(list.Items, k)
		}
		p.flowGap(parent)
		if p.at(',') {
			p.i++
			continue
		}
		if p.at(shut) {
			break
		}
		if p.i >= len(p.s) {
			p.fail(open, "a "+p.s[open:open+1]+" that is not closed")
			return Value{}
		}
		p.fail(p.i, "text after a value inside "+p.s[open:open+1]+string(shut))
	}
	p.i++
	if p.i < len(p.s) && p.at('#') {
		p.fail(p.i, "a comment needs a blank before it")
	}
	if isMap {
		return m.value()
	}
	return list
}

// flowGap is gap inside a flow collection: lines must be indented deeper than
// the block around it, except those that close it.
func (p *parser) flowGap(parent int) {
	if !p.gap() || p.i >= len(p.s) {
		return
	}
	if p.docEnd() {
		p.fail(p.i, "... inside brackets")
	}
	closing := (p.at(']') || p.at('}')) && (p.bun || p.flows == 1 && p.indent() == parent)
	if p.indent() <= parent && !closing {
		p.fail(p.i, "a line inside brackets that is not indented")
	}
}

// colonInFlow reports whether a colon at i separates a key; json says that the
// key ended with a quote or a bracket.
func (p *parser) colonInFlow(json bool) bool {
	return p.at(':') && (json || p.spaceAt(p.i+1) || isFlowMark(p.s[p.i+1]))
}

// flowEntry parses one entry of a flow collection: in a map key and value, in a
// list a value (k) or a single pair.
func (p *parser) flowEntry(parent int, isMap bool) (k, v Value, pair bool) {
	line, explicit, json := p.line, false, false
	if p.at('?') && (p.spaceAt(p.i+1) || isFlowMark(p.s[p.i+1])) {
		if explicit = true; p.old && !isMap {
			p.fail(p.i, "? in a list in brackets")
		}
		p.i++
		p.flowGap(parent)
	}
	switch {
	case p.at(',') || p.at(']') || p.at('}'):
		if !explicit {
			p.fail(p.i, "nothing before \""+p.s[p.i:p.i+1]+"\"")
		}
	case p.colonInFlow(false):
	default:
		k, json = p.flowNode(parent)
		json = json && !(p.old && p.inList)
	}
	end := p.i
	p.flowGap(parent)
	if !p.colonInFlow(json) {
		p.i = min(end, p.i)
		if explicit || isMap {
			return k, Value{}, true
		}
		return k, Value{}, false
	}
	if !isMap && !explicit && p.line != line {
		p.fail(p.i, "a key in [] on more than one line")
	}
	p.i++
	p.flowGap(parent)
	if !p.at(',') && !p.at(']') && !p.at('}') {
		v, _ = p.flowNode(parent)
	}
	return k, v, true
}

// flowNode parses a node of a flow collection; json says that it ended with a
// quote or a bracket.
func (p *parser) flowNode(parent int) (v Value, json bool) {
	var q props
	for p.at('&') || p.at('!') {
		q = p.join(q, p.properties(true))
		p.flowGap(parent)
	}
	if p.i >= len(p.s) || p.at(',') || p.at(']') || p.at('}') || p.colonInFlow(false) {
		if !q.any() {
			p.fail(p.i, "a value is missing")
		}
		return p.empty(q), false
	}
	t := p.token(parent, true)
	return p.name(q, p.resolve(t, q.tag)), t.style == '"' || t.style == '['
}
