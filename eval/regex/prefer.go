package regex

import (
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/internal/room"
)

// Which match PostgreSQL gives, and what its groups hold, follows from preferences (its manual,
// 9.7.3.5): the whole prefers the longest or the shortest, as its first part with a preference
// does; within the text so fixed, each part in turn gets the longest or shortest piece, as it
// prefers, that lets the rest match. RE2 knows no such rules. So a pattern with groups, or one that
// does not plainly prefer the longest, is also kept as a tree in the form in which PostgreSQL's
// compiler has it (regcomp.c: parse, parsebranch, parseqatom), and what was found is divided along
// that tree (regexec.c: cdissect). Without back references a division that looks possible is, so
// that nothing is tried twice.

// prefer says what a part prefers, and what lies within it.
type prefer uint8

const (
	longer   prefer = 1 << iota
	shorter         // both only within plain parts under way
	mixed           // parts of both kinds within
	captures        // groups within
)

func (f prefer) local() prefer { return f & (longer | shorter) }

// up is what of f's parts shows above.
func (f prefer) up() prefer {
	out := f &^ (longer | shorter)
	if f&longer != 0 && f&shorter != 0 {
		out |= mixed
	}
	return out
}

func (f prefer) messy() bool { return f&(mixed|captures) != 0 }

// combine is the preference of two parts one after the other.
func combine(f, g prefer) prefer {
	p := f.local()
	if p == 0 {
		p = g.local()
	}
	return (f | g).up() | p
}

// rePart is a node of the tree.
type rePart struct {
	op       byte // '=' any plain pattern, '.' two parts, '|' several branches, '*' an iteration
	kids     []*rePart
	group    int // that it is; 0: none
	max      int // of an iteration; -1: no limit
	flags    prefer
	text     string // in Go's syntax, without options
	fwd, rev *syntax.Prog
}

// preferences is a pattern's tree.
type preferences struct {
	root   *rePart
	groups int
	size   int64
}

// readPreferences makes the tree of a pattern that translateRegexp has accepted; nil where it
// changes nothing: no groups, and the longest match.
func readPreferences(pattern, flags string) (*preferences, error) {
	t, err := newTranslator(pattern, flags)
	if err != nil || t.opt.literal {
		return nil, err
	}
	header := t.out.String()
	r := &partReader{t: t}
	root, err := r.alternatives()
	if err != nil {
		return nil, err
	}
	if r.groups == 0 && root.flags&(shorter|mixed) == 0 {
		return nil, nil
	}
	p := &preferences{root: root, groups: r.groups}
	if err := p.compile(root, header); err != nil {
		return nil, err
	}
	return p, nil
}

// compile makes the programs that dividing asks for.
func (p *preferences) compile(n *rePart, header string) error {
	tree, err := syntax.Parse(header+"(?:"+n.text+")", syntax.Perl)
	if err != nil {
		return errRegexp(plainRegexpError(err))
	}
	tree = tree.Simplify()
	if n.fwd, err = syntax.Compile(tree); err != nil {
		return errRegexp(plainRegexpError(err))
	}
	backwards(tree, map[*syntax.Regexp]bool{})
	if n.rev, err = syntax.Compile(tree); err != nil {
		return errRegexp(plainRegexpError(err))
	}
	p.size += int64(len(n.fwd.Inst)+len(n.rev.Inst))*80 + int64(len(n.text)) + 256
	for _, k := range n.kids {
		if err := p.compile(k, header); err != nil {
			return err
		}
	}
	return nil
}

// backwards makes a pattern of the same texts read backwards. Conditions on a place stay: they are
// tested where they stand in the text.
func backwards(re *syntax.Regexp, done map[*syntax.Regexp]bool) {
	if done[re] {
		return // Simplify shares what {m,n} repeats
	}
	done[re] = true
	if re.Op == syntax.OpLiteral {
		re.Rune = slices.Clone(re.Rune) // the program of the other direction holds on to it
		slices.Reverse(re.Rune)
	}
	if re.Op == syntax.OpConcat {
		slices.Reverse(re.Sub)
	}
	for _, s := range re.Sub {
		backwards(s, done)
	}
}

// partReader reads a pattern.
type partReader struct {
	t      *regexpTranslator
	groups int
}

func (r *partReader) more() bool {
	t := r.t
	for t.at < len(t.in) {
		c := t.in[t.at]
		switch {
		case strings.HasPrefix(t.rest(), "(?#"):
			end := strings.IndexByte(t.rest(), ')')
			if end < 0 {
				return true
			}
			t.at += end + 1
		case t.opt.extended && strings.IndexByte(" \t\n\r\f\v", c) >= 0:
			t.at++
		case t.opt.extended && c == '#':
			for t.at < len(t.in) && t.in[t.at] != '\n' {
				t.at++
			}
		default:
			return true
		}
	}
	return false
}

func (r *partReader) sees(c byte) bool { return r.more() && r.t.in[r.t.at] == c }

// alternatives is regcomp.c's parse.
func (r *partReader) alternatives() (*rePart, error) {
	b := &rePart{op: '|', flags: longer}
	var texts []string
	for {
		k, err := r.branch()
		if err != nil {
			return nil, err
		}
		b.kids, texts = append(b.kids, k), append(texts, k.text)
		b.flags |= (b.flags | k.flags).up()
		if !r.sees('|') {
			break
		}
		r.t.at++
	}
	if len(b.kids) == 1 {
		return b.kids[0], nil
	}
	b.text = "(?:" + strings.Join(texts, "|") + ")"
	if !b.flags.messy() {
		b.op, b.kids = '=', nil
	}
	return b, nil
}

// branch is parsebranch.
func (r *partReader) branch() (*rePart, error) {
	top := &rePart{op: '='}
	for r.more() && r.t.in[r.t.at] != '|' && r.t.in[r.t.at] != ')' {
		done, err := r.atom(top)
		if err != nil || done {
			return top, err
		}
	}
	return top, nil
}

// atom is parseqatom: it adds the next atom with its quantifier to top, a plain part. done: it is
// no plain one, and has taken the rest of the branch along.
func (r *partReader) atom(top *rePart) (done bool, err error) {
	atom, constraint, err := r.single()
	if err != nil {
		return false, err
	}
	if constraint {
		top.text += atom.text
		return false, nil
	}
	m, n, pref, quant, err := r.quantifier()
	if err != nil {
		return false, err
	}
	if m == 0 && n == 0 {
		return false, nil // cancels everything; its groups are never set
	}
	if f := top.flags | pref | atom.flags; atom.group == 0 && !f.up().messy() {
		top.text += atom.text + quant
		top.flags = f
		return false, nil
	}
	rep := func(lo, hi int) string {
		s := "(?:" + atom.text + "){" + strconv.Itoa(lo) + ","
		if hi >= 0 {
			s += strconv.Itoa(hi)
		}
		return s + "}"
	}
	t := &rePart{op: '.', flags: combine(pref, atom.flags)}
	f := combine(pref, atom.flags)
	own := atom.flags & (longer | shorter | mixed)
	switch {
	case m == 1 && n == 1 && (pref == 0 || own == 0 || pref == own):
	case atom.flags&captures == 0:
		atom = &rePart{op: '=', flags: f, text: rep(m, n)}
	case m > 0:
		// x{m,n} is x{m-1,n-1}x: only the last x sets groups.
		hi := n - 1
		if n < 0 {
			hi = n
		}
		before := &rePart{op: '=', flags: f.local(), text: rep(m-1, hi)}
		atom = &rePart{op: '.', flags: f, kids: []*rePart{before, atom}, text: before.text + "(?:" + atom.text + ")"}
	default:
		atom = &rePart{op: '*', flags: f, kids: []*rePart{atom}, max: n, text: rep(0, n)}
	}
	rest, err := r.branch()
	if err != nil {
		return false, err
	}
	t.flags |= combine(t.flags, rest.flags)
	t.kids = []*rePart{atom, rest}
	t.text = "(?:" + atom.text + ")" + rest.text
	before := &rePart{op: '=', flags: top.flags, text: top.text}
	top.op, top.kids, top.text = '.', []*rePart{before, t}, top.text+t.text
	top.flags |= combine(top.flags, t.flags)
	return true, nil
}

// single reads an atom without its quantifier, or a constraint, which can have none.
func (r *partReader) single() (p *rePart, constraint bool, err error) {
	t := r.t
	t.out.Reset()
	p = &rePart{op: '='}
	switch c := t.in[t.at]; {
	case c == '(':
		group := 0
		if strings.HasPrefix(t.rest(), "(?:") {
			t.at += 3
		} else {
			t.at++
			r.groups++
			group = r.groups
		}
		inner, err := r.alternatives()
		if err != nil {
			return nil, false, err
		}
		if !r.sees(')') {
			return nil, false, errRegexp("parentheses () not balanced")
		}
		t.at++
		if group > 0 {
			if inner.group > 0 { // ((x))
				inner = &rePart{op: '(', kids: []*rePart{inner}, flags: inner.flags, text: inner.text}
			}
			inner.group = group
			inner.flags |= captures
		}
		inner.text = "(?:" + inner.text + ")"
		return inner, false, nil
	case c == '^' || c == '$':
		t.at++
		p.text = string(c)
		return p, true, nil
	case c == '\\':
		constraint = t.at+1 < len(t.in) && strings.IndexByte("AZmMyY", t.in[t.at+1]) >= 0
		err = t.escape()
	case c == '[':
		constraint = strings.HasPrefix(t.rest(), "[[:<:]]") || strings.HasPrefix(t.rest(), "[[:>:]]")
		err = t.bracket()
	case c == '{':
		err = t.bound()
	case c == '}' || c == ']':
		t.out.WriteString(`\` + string(c))
		t.at++
	default:
		_, n := utf8.DecodeRuneInString(t.rest())
		t.out.WriteString(t.in[t.at : t.at+n])
		t.at += n
	}
	p.text = t.out.String()
	t.out.Reset()
	return p, constraint, err
}

// quantifier reads what may follow an atom: its bounds (n -1: none), its preference, and its text.
func (r *partReader) quantifier() (m, n int, pref prefer, text string, err error) {
	if !r.more() {
		return 1, 1, 0, "", nil
	}
	t := r.t
	switch c := t.in[t.at]; {
	case c == '*':
		m, n, text = 0, -1, "*"
	case c == '+':
		m, n, text = 1, -1, "+"
	case c == '?':
		m, n, text = 0, 1, "?"
	case c == '{' && t.at+1 < len(t.in) && t.in[t.at+1] >= '0' && t.in[t.at+1] <= '9':
		end := strings.IndexByte(t.rest(), '}')
		if end < 0 {
			return 0, 0, 0, "", errRegexp("braces {} not balanced")
		}
		text = t.rest()[:end+1]
		lo, hi, two := strings.Cut(text[1:end], ",")
		m, _ = strconv.Atoi(lo)
		if n = m; two {
			if n = -1; hi != "" {
				n, _ = strconv.Atoi(hi)
			}
		}
		t.at += end + 1
		lazy := strings.HasPrefix(t.rest(), "?")
		if lazy {
			t.at++
		}
		switch { // {m} passes its operand's preference on
		case !two:
		case lazy:
			pref = shorter
		default:
			pref = longer
		}
		return m, n, pref, text, nil
	default:
		return 1, 1, 0, "", nil
	}
	t.at++
	pref = longer
	if strings.HasPrefix(t.rest(), "?") {
		t.at++
		pref = shorter
	}
	return m, n, pref, text, nil
}

// placeSet are places in a text, from lo on.
type placeSet struct {
	lo   int
	bits []uint64
}

func newPlaceSet(lo, hi int) placeSet {
	n := (hi-lo)/64 + 1
	return placeSet{lo, room.Grow([]uint64(nil), n)[:n]}
}

func (p placeSet) add(at int)      { p.bits[(at-p.lo)/64] |= 1 << ((at - p.lo) % 64) }
func (p placeSet) has(at int) bool { return p.bits[(at-p.lo)/64]>>((at-p.lo)%64)&1 != 0 }

// stepper follows all threads of a program over a text at once.
type stepper struct {
	prog      *syntax.Prog
	now, next []uint32
	mark      []int // the round in which an instruction was added
	round     int
	matched   bool
}

func (p *stepper) add(pc uint32, at syntax.EmptyOp) {
	if p.mark[pc] == p.round {
		return
	}
	p.mark[pc] = p.round
	switch i := &p.prog.Inst[pc]; i.Op {
	case syntax.InstFail:
	case syntax.InstAlt, syntax.InstAltMatch:
		p.add(i.Out, at)
		p.add(i.Arg, at)
	case syntax.InstCapture, syntax.InstNop:
		p.add(i.Out, at)
	case syntax.InstEmptyWidth:
		if syntax.EmptyOp(i.Arg)&^at == 0 {
			p.add(i.Out, at)
		}
	case syntax.InstMatch:
		p.matched = true
	default:
		p.next = append(p.next, pc)
	}
}

// condition is what holds at a place of s.
func condition(s string, at int) syntax.EmptyOp {
	before, after := rune(-1), rune(-1)
	if at > 0 {
		before, _ = utf8.DecodeLastRuneInString(s[:at])
	}
	if at < len(s) {
		after, _ = utf8.DecodeRuneInString(s[at:])
	}
	return syntax.EmptyOpContext(before, after)
}

// walk goes from a place on (back: backwards) up to a limit and calls found for every place up to
// which the program matches, until that says stop.
func (d *divider) walk(prog *syntax.Prog, from, limit int, back bool, found func(at int) (stop bool)) {
	p := stepper{prog: prog, mark: make([]int, len(prog.Inst))}
	at := from
	p.round = 1
	p.add(uint32(prog.Start), condition(d.s, at))
	for {
		if d.steps++; d.steps&4095 == 0 {
			d.c.MustLive()
		}
		if p.matched && found(at) {
			return
		}
		if len(p.next) == 0 || at == limit {
			return
		}
		var r rune
		var w int
		if back {
			r, w = utf8.DecodeLastRuneInString(d.s[limit:at])
			at -= w
		} else {
			r, w = utf8.DecodeRuneInString(d.s[at:limit])
			at += w
		}
		cond := condition(d.s, at)
		p.now, p.next, p.matched = p.next, p.now[:0], false
		p.round++
		for _, pc := range p.now {
			if i := &prog.Inst[pc]; i.MatchRune(r) {
				p.add(i.Out, cond)
			}
		}
	}
}

// divider finds what the groups hold.
type divider struct {
	c     *eval.Ctx
	s     string
	m     []int
	steps int
}

// match is the match that begins at from, in the form of FindStringSubmatchIndex.
func (p *preferences) match(c *eval.Ctx, s string, from int) []int {
	d := &divider{c: c, s: s, m: make([]int, 2+2*p.groups)}
	for i := range d.m {
		d.m[i] = -1
	}
	end := -1
	d.walk(p.root.fwd, from, len(s), false, func(at int) bool {
		end = at
		return p.root.flags&shorter != 0
	})
	if end < 0 {
		return nil
	}
	d.divide(p.root, from, end)
	d.m[0], d.m[1] = from, end
	return d.m
}

// places are those up to which n matches from a place, or (back) from which it matches up to one.
func (d *divider) places(n *rePart, lo, hi int, back bool) placeSet {
	set := newPlaceSet(lo, hi)
	if back {
		d.walk(n.rev, hi, lo, true, func(at int) bool { set.add(at); return false })
	} else {
		d.walk(n.fwd, lo, hi, false, func(at int) bool { set.add(at); return false })
	}
	return set
}

func (d *divider) matches(n *rePart, lo, hi int) bool {
	yes := false
	d.walk(n.fwd, lo, hi, false, func(at int) bool { yes = at == hi; return yes })
	return yes
}

// divide is cdissect for s[lo:hi], which n matches.
func (d *divider) divide(n *rePart, lo, hi int) {
	if n.group == 0 && n.flags&captures == 0 {
		return
	}
	switch n.op {
	case '(':
		d.divide(n.kids[0], lo, hi)
	case '.':
		left, right := n.kids[0], n.kids[1]
		if mid := d.between(left, right, lo, hi); mid >= 0 {
			d.divide(left, lo, mid)
			d.divide(right, mid, hi)
		}
	case '|':
		for _, k := range n.kids {
			if d.matches(k, lo, hi) {
				d.divide(k, lo, hi)
				break
			}
		}
	case '*':
		d.iterate(n, lo, hi)
	}
	if n.group > 0 {
		d.m[2*n.group], d.m[2*n.group+1] = lo, hi
	}
}

// between is the place that left prefers, of those that let right match the rest.
func (d *divider) between(left, right *rePart, lo, hi int) int {
	switch {
	case left.text == "":
		return lo
	case right.text == "":
		return hi
	}
	ends, starts := d.places(left, lo, hi, false), d.places(right, lo, hi, true)
	if left.flags&shorter != 0 {
		for at := lo; at <= hi; at++ {
			if ends.has(at) && starts.has(at) {
				return at
			}
		}
		return -1
	}
	for at := hi; at >= lo; at-- {
		if ends.has(at) && starts.has(at) {
			return at
		}
	}
	return -1
}

// iterate is citerdissect: pieces of some length, each as its pattern prefers, of which the last one
// sets the groups.
func (d *divider) iterate(n *rePart, lo, hi int) {
	k := n.kids[0]
	if lo == hi {
		// Of nothing, what prefers more takes one piece, and what prefers less none.
		if k.flags&shorter == 0 && d.matches(k, lo, hi) {
			d.divide(k, lo, hi)
		}
		return
	}
	// Backwards: from which places the end is reached, and in how many pieces at least.
	least := map[int]int{hi: 0}
	list := []int{hi}
	for i := 0; i < len(list); i++ {
		at := list[i]
		d.walk(k.rev, at, lo, true, func(from int) bool {
			if _, known := least[from]; !known && from < at {
				room.Must(64)
				least[from] = least[at] + 1
				list = append(list, from)
			}
			return false
		})
	}
	for at, left := lo, n.max; at < hi; left-- {
		next := -1
		d.walk(k.fwd, at, hi, false, func(to int) bool {
			if c, ok := least[to]; ok && to > at && (left < 0 || c <= left-1) {
				next = to
				return k.flags&shorter != 0
			}
			return false
		})
		if next < 0 {
			return
		}
		if next == hi {
			d.divide(k, at, next)
		}
		at = next
	}
}
