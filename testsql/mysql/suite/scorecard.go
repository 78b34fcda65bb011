package main

import (
	"fmt"
	"io"
	"regexp"
	"strings"
)

type tally struct {
	class              class
	total, agree, same int // same: of those that agree, how many by MariaDB's word alone
}

// difference is a statement that neither the suite nor MariaDB answers as lhsql does.
type difference struct {
	topic  topic
	script string
	step   step
	got    answer
	judge  *answer
	setup  []error
	shared bool
}

type scorecard struct {
	void   int // steps of scripts that MariaDB refuses to set up, too
	whole  map[class]*tally
	names  []string
	topics map[string]*tally
	kinds  map[string][]difference
}

func newScorecard() *scorecard {
	return &scorecard{topics: map[string]*tally{}, whole: map[class]*tally{}, kinds: map[string][]difference{}}
}

func (c *scorecard) of(t topic) *tally {
	if c.topics[t.name] == nil {
		c.names = append(c.names, t.name)
		c.topics[t.name] = &tally{class: t.class}
	}
	return c.topics[t.name]
}

// at is where a step of t counts: in a topic of its own if it is not served. The sums with what is not
// served have it in any case.
func (c *scorecard) at(t topic, st step, agrees bool) topic {
	w := c.whole[t.class]
	if w == nil {
		w = &tally{}
		c.whole[t.class] = w
	}
	if w.total++; agrees {
		w.agree++
	}
	if st.outside == "" || t.class == notServed {
		return t
	}
	return topic{name: "in others: " + st.outside, class: notServed}
}

func (c *scorecard) agree(t topic, st step, byJudge bool) {
	y := c.of(c.at(t, st, true))
	y.total++
	y.agree++
	if byJudge {
		y.same++
	}
}

func (c *scorecard) differ(d difference) {
	d.topic = c.at(d.topic, d.step, false)
	c.of(d.topic).total++
	if d.topic.class == notServed && !*verbose {
		return
	}
	k := kind(d)
	c.kinds[k] = append(c.kinds[k], d)
}

// agreeing counts what is in a sum.
func (c *scorecard) agreeing() (n int) {
	for _, y := range c.topics {
		if y.class != notServed {
			n += y.agree
		}
	}
	return n
}

func (c *scorecard) print(w io.Writer) {
	sums := map[class]*tally{}
	fmt.Fprintf(w, "%-34s %7s %7s %8s %6s\n", "topic", "of", "agree", "(judge)", "")
	for _, k := range []class{reads, writes, notServed} {
		fmt.Fprintln(w, k)
		for _, name := range c.names {
			y := c.topics[name]
			if y.class != k {
				continue
			}
			fmt.Fprintf(w, "  %-32s %7d %7d %8d %5.1f%%\n", name, y.total, y.agree, y.same, percent(y))
			if sums[y.class] == nil {
				sums[y.class] = &tally{}
			}
			s := sums[y.class]
			s.total, s.agree, s.same = s.total+y.total, s.agree+y.agree, s.same+y.same
		}
	}
	for _, k := range []class{reads, writes, notServed} {
		if s := sums[k]; s != nil {
			fmt.Fprintf(w, "%-34s %7d %7d %8d %5.1f%%\n", k, s.total, s.agree, s.same, percent(s))
		}
		if s := c.whole[k]; s != nil && k != notServed {
			fmt.Fprintf(w, "%-34s %7d %7d %8s %5.1f%%\n", "  with what is not served", s.total, s.agree, "", percent(s))
		}
	}
	if c.void > 0 {
		fmt.Fprintf(w, "%d statements stand in no sum: MariaDB refuses their setup as lhsql does\n", c.void)
	}
	fmt.Fprintln(w, "\ndisagreements by kind")
	for _, k := range sortedKeys(c.kinds, func(a, b string) bool {
		if x, y := len(c.kinds[a]), len(c.kinds[b]); x != y {
			return x > y
		}
		return a < b
	}) {
		fmt.Fprintf(w, "%6d  %s\n", len(c.kinds[k]), k)
		if *verbose {
			for _, d := range c.kinds[k] {
				show(w, d)
			}
		}
	}
}

func percent(t *tally) float64 { return 100 * float64(t.agree) / float64(max(1, t.total)) }

func show(w io.Writer, d difference) {
	fmt.Fprintf(w, "        [%s: %s] %s\n", d.topic.name, d.script, firstLine(d.step.sql))
	want := fmt.Sprint(d.step.rows)
	if d.step.fails {
		want = "an error"
	}
	fmt.Fprintf(w, "          want %s\n          got  %s\n", firstLine(want), d.got)
	if d.judge != nil {
		fmt.Fprintf(w, "          MariaDB %s\n", d.judge)
	}
	if d.shared {
		return
	}
	for _, e := range d.setup[:min(3, len(d.setup))] {
		fmt.Fprintf(w, "          setup: %s\n", firstLine(e.Error()))
	}
}

func (a answer) String() string {
	if a.err != nil {
		return firstLine(a.err.Error())
	}
	if !a.hasRows {
		return fmt.Sprintf("%d rows affected, id %d", a.affected, a.inserted)
	}
	var b strings.Builder
	for _, r := range a.rows {
		b.WriteByte('[')
		for i, v := range r {
			if i > 0 {
				b.WriteByte(' ')
			}
			if v == nil {
				b.WriteString("<nil>")
			} else {
				b.WriteString(*v)
			}
		}
		b.WriteByte(']')
	}
	return firstLine(b.String())
}

var quoted = regexp.MustCompile("'[^']*'|\"[^\"]*\"|`[^`]*`|\\d+")

// kind names what a disagreement is: the error of the statement or, where its tables were not made
// as the script says, that of the setup.
func kind(d difference) string {
	if len(d.setup) > 0 && !d.step.fails && (!d.shared || d.got.err != nil && strings.Contains(d.got.err.Error(), "Error 1146")) {
		return "setup: " + quoted.ReplaceAllString(d.setup[0].Error()[:strings.LastIndex(d.setup[0].Error(), " of ")], "…")
	}
	switch {
	case d.got.err != nil:
		return "error: " + quoted.ReplaceAllString(firstLine(d.got.err.Error()), "…")
	case d.step.fails:
		return "no error where one is expected"
	case !d.got.hasRows:
		return "affected rows"
	}
	return "other rows"
}
