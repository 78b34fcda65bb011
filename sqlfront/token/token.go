// Package token answers: which words is this statement made of, and what is next?
//
// In: the tokens that a dialect's lexer made. Out: a Cursor, by which the descents by hand walk
// over them. The package refuses to know what the words mean.
package token

import (
	"strings"
)

// Kind is what a token is.
type Kind uint8

const (
	End     Kind = iota // behind the last one
	Word                // unquoted identifier or keyword
	Quoted              // quoted identifier
	String              // string constant
	Hex                 // MySQL's x'41', 0x41, b'101', 0b101
	Number              // integer or decimal
	Param               // ? or $n
	Var                 // MySQL's @x, @@session.x
	Op                  // operators
	Punct               // parentheses, commas and their like
	Invalid             // unterminated or unknown
)

// Token is one token of a statement's text.
type Token struct {
	Kind Kind
	// Text is the token as written, of a word in lower case, of a quoted identifier nothing:
	// whoever compares it with a keyword must not find a name.
	Text string
	// Value is what the token stands for: an identifier's name, and in MySQL the bytes of a string.
	Value    string
	Reserved bool // a word that names nothing unquoted
	Pos, End int  // bytes in the statement's text
}

// Is tells whether t is one of the words.
func (t Token) Is(words ...string) bool {
	if t.Kind != Word {
		return false
	}
	for _, w := range words {
		if t.Text == w {
			return true
		}
	}
	return false
}

// Op tells whether t is the operator s.
func (t Token) Op(s string) bool { return t.Kind == Op && t.Text == s }

// Punct tells whether t is the parenthesis, comma or the like s.
func (t Token) Punct(s string) bool { return t.Kind == Punct && t.Text == s }

// IsName tells whether t can name something.
func (t Token) IsName() bool { return t.Kind == Quoted || t.Kind == Word && !t.Reserved }

// Set makes a set of the words in s.
func Set(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}
