package guard

import (
	"strings"

	"github.com/lhsql/lhsql/internal/sqlerr"
)

// OID identifies a role; 0 is everybody.
type OID = uint32

// Item is what one role gave another: an aclitem.
type Item struct {
	Grantee OID       `json:"to"`
	Grantor OID       `json:"by"`
	Privs   Privilege `json:"p"`
	Options Privilege `json:"o,omitempty"` // those of Privs that the grantee may give others
}

// ACL is an access control list. It is not changed in place.
type ACL []Item

// defaultACL is what an object has before anybody changes it.
func defaultACL(k Kind, owner OID) ACL {
	var out ACL
	if p := k.public(); p != 0 {
		out = append(out, Item{Grantor: owner, Privs: p})
	}
	if k == Column || k == Ref {
		return nil
	}
	return append(out, Item{Grantee: owner, Grantor: owner, Privs: k.All()})
}

// text spells an ACL as PostgreSQL prints aclitem[].
func (a ACL) text(name func(OID) string) []string {
	out := make([]string, 0, len(a))
	for _, it := range a {
		var b strings.Builder
		if it.Grantee != 0 {
			b.WriteString(quoteRole(name(it.Grantee)))
		}
		b.WriteByte('=')
		for i := range letters {
			if it.Privs&(1<<i) != 0 {
				b.WriteByte(letters[i])
				if it.Options&(1<<i) != 0 {
					b.WriteByte('*')
				}
			}
		}
		b.WriteByte('/')
		b.WriteString(quoteRole(name(it.Grantor)))
		out = append(out, b.String())
	}
	return out
}

// quoteRole spells a role in an aclitem: quoted where it holds more than letters, digits and
// underscores.
func quoteRole(name string) string {
	for i := 0; i < len(name); i++ {
		if c := name[i]; c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z') && c < 0x80 {
			return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
		}
	}
	return name
}

// held is what the ACL gives to any of who, options what of that may be handed on. The owner may
// hand on everything, whether or not he holds it.
func (a ACL) held(who func(OID) bool) (privs, options Privilege) {
	for _, it := range a {
		if it.Grantee == 0 || who(it.Grantee) {
			privs |= it.Privs
			if it.Grantee != 0 {
				options |= it.Options
			}
		}
	}
	return privs, options
}

// with is the ACL with one item replaced; one that holds nothing is left out.
func (a ACL) with(at int, it Item) ACL {
	out := append(ACL(nil), a...)
	if at == len(out) {
		out = append(out, it)
	} else {
		out[at] = it
	}
	if it.Privs == 0 {
		out = append(out[:at], out[at+1:]...)
	}
	return out
}

func (a ACL) find(grantee, grantor OID) int {
	for i, it := range a {
		if it.Grantee == grantee && it.Grantor == grantor {
			return i
		}
	}
	return len(a)
}

var errPublicOption = sqlerr.New(sqlerr.InvalidGrantOperation, "grant options can only be granted to roles")

// grant gives grantee privileges in the name of grantor.
func (a ACL) grant(owner, grantor, grantee OID, p Privilege, option bool) (ACL, error) {
	if option && grantor != owner {
		// Options that came, by whatever way, from grantee cannot be his reason to have them.
		rest := a
		for again := true; again; {
			again = false
			for i, it := range rest {
				if it.Grantee == grantee && it.Options != 0 {
					was := it.Options
					it.Options = 0
					next := append(ACL(nil), rest...)
					next[i] = it
					var err error
					if rest, err = next.withoutDependents(owner, grantee, was, true); err != nil {
						return nil, err
					}
					again = true
					break
				}
			}
		}
		own := Privilege(0)
		for _, it := range rest {
			if it.Grantee == grantor {
				own |= it.Options
			}
		}
		if p&^own != 0 {
			return nil, sqlerr.New(sqlerr.InvalidGrantOperation, "grant options cannot be granted back to your own grantor")
		}
	}
	at := a.find(grantee, grantor)
	it := Item{Grantee: grantee, Grantor: grantor}
	if at < len(a) {
		it = a[at]
	}
	it.Privs |= p
	if option {
		it.Options |= p
	}
	return a.with(at, it), nil
}

// revoke takes back what grantor gave grantee, or only the right to hand it on. What grantee has
// handed on goes, too, with cascade; without, it makes the revocation fail.
func (a ACL) revoke(owner, grantor, grantee OID, p Privilege, optionOnly, cascade bool) (ACL, error) {
	at := a.find(grantee, grantor)
	if at == len(a) {
		return a, nil
	}
	it := a[at]
	lost := it.Options & p
	it.Options &^= p
	if !optionOnly {
		it.Privs &^= p
	}
	out := a.with(at, it)
	if lost == 0 {
		return out, nil
	}
	return out.withoutDependents(owner, grantee, lost, cascade)
}

// withoutDependents revokes what grantee gave others by grant options that he has lost.
func (a ACL) withoutDependents(owner, grantee OID, lost Privilege, cascade bool) (ACL, error) {
	if grantee == owner {
		return a, nil // who needs none
	}
	still := Privilege(0)
	for _, it := range a {
		if it.Grantee == grantee {
			still |= it.Options
		}
	}
	if lost &^= still; lost == 0 {
		return a, nil
	}
	for again := true; again; {
		again = false
		for _, it := range a {
			if it.Grantor != grantee || it.Privs&lost == 0 {
				continue
			}
			if !cascade {
				return nil, sqlerr.New(sqlerr.DependentObjectsExist, "dependent privileges exist").WithHint("Use CASCADE to revoke them too.")
			}
			var err error
			if a, err = a.revoke(owner, grantee, it.Grantee, lost, false, true); err != nil {
				return nil, err
			}
			again = true
			break
		}
	}
	return a, nil
}

// owned is the ACL of an object that has another owner now: what the old one held and gave, the new
// one does.
func (a ACL) owned(old, now OID) ACL {
	if a == nil {
		return nil
	}
	out := ACL{}
	for _, it := range a {
		if it.Grantee == old {
			it.Grantee = now
		}
		if it.Grantor == old {
			it.Grantor = now
		}
		if at := out.find(it.Grantee, it.Grantor); at < len(out) {
			out[at].Privs |= it.Privs
			out[at].Options |= it.Options
			continue
		}
		out = append(out, it)
	}
	return out
}

// without is the ACL without what a role holds or gave; changed tells whether it had any.
func (a ACL) without(role OID) (out ACL, changed bool) {
	for _, it := range a {
		if it.Grantee == role || it.Grantor == role {
			changed = true
			continue
		}
		out = append(out, it)
	}
	if !changed {
		return a, false
	}
	if out == nil {
		out = ACL{}
	}
	return out, true
}

func (a ACL) names(role OID) bool {
	for _, it := range a {
		if it.Grantee == role || it.Grantor == role {
			return true
		}
	}
	return false
}
