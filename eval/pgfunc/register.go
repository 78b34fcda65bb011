// Package pgfunc answers: what are PostgreSQL's functions?
//
// One file for each kind of them, by PostgreSQL's chapters on functions (9.4 and on), declared in eval's table.
// What they share with operators and casts is in eval, regular expressions in eval/regex.
package pgfunc

// Register declares PostgreSQL's functions in eval's table. It is called once, by eval/library.
func Register() {
	registerArray()
	registerBytea()
	registerDatetime()
	registerDatetrunc()
	registerExtract()
	registerExtract2()
	registerFormat()
	registerIdentifier()
	registerIndex()
	registerJson()
	registerJsonBuild()
	registerJsonRecord()
	registerJsonb()
	registerJsonpath()
	registerKeywords()
	registerMap()
	registerNormalize()
	registerMath()
	registerPartitions()
	registerRegexp()
	registerRegexpOperator()
	registerSend()
	registerSeries()
	registerSettings()
	registerString()
	registerSystem()
	registerSystemAcl()
	registerTocharDate()
	registerTocharNumber()
	registerTodate()
	registerTruetype()
	registerUuid()
	registerZoneNames()
}
