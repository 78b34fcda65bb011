// Package mysqlfunc answers: what are MySQL's functions, where PostgreSQL has none or others?
//
// Their names begin with "mysql:" in eval's table, so that only the binder of the MySQL dialect finds them.
package mysqlfunc

// Register declares MySQL's functions in eval's table. It is called once, by eval/library.
func Register() {
	registerAddress()
	registerAddress2()
	registerCollation()
	registerConvert()
	registerCrypt()
	registerDateformat()
	registerDatetime()
	registerJson()
	registerJsonSearch()
	registerJsonTable()
	registerLike()
	registerMath()
	registerStore()
	registerString()
}
