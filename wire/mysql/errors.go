package mysql

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/lhsql/lhsql/engine"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// mysqlError is an error as MySQL numbers it.
type mysqlError struct {
	number uint16
	state  string
	text   string
}

func (e *mysqlError) Error() string { return e.text }

func wireError(number uint16, state, format string, args ...any) *mysqlError {
	return &mysqlError{number, state, fmt.Sprintf(format, args...)}
}

// numbers give MySQL's number and SQLSTATE for ours (MySQL 8.0 error reference). A code that is
// not here keeps its SQLSTATE under 1105, which says "unknown".
var numbers = map[sqlerr.Code]struct {
	number uint16
	state  string
}{
	sqlerr.SyntaxError:                {1064, "42000"},
	sqlerr.UndefinedTable:             {1146, "42S02"},
	sqlerr.UndefinedColumn:            {1054, "42S22"},
	sqlerr.UndefinedFunction:          {1305, "42000"},
	sqlerr.UndefinedParameter:         {1210, "HY000"},
	sqlerr.UndefinedObject:            {1193, "HY000"},
	sqlerr.AmbiguousColumn:            {1052, "23000"},
	sqlerr.AmbiguousFunction:          {1210, "HY000"},
	sqlerr.AmbiguousParameter:         {1210, "HY000"},
	sqlerr.AmbiguousAlias:             {1066, "42000"},
	sqlerr.DuplicateAlias:             {1066, "42000"},
	sqlerr.DuplicateColumn:            {1060, "42S21"},
	sqlerr.DuplicateTable:             {1050, "42S01"},
	sqlerr.DuplicateSchema:            {1007, "HY000"},
	sqlerr.DuplicateObject:            {1061, "42000"},
	sqlerr.InvalidSchemaName:          {1049, "42000"},
	sqlerr.InvalidCatalogName:         {1046, "3D000"},
	sqlerr.DependentObjectsExist:      {1010, "HY000"},
	sqlerr.UniqueViolation:            {1062, "23000"},
	sqlerr.ForeignKeyViolation:        {1452, "23000"},
	sqlerr.InvalidForeignKey:          {1822, "HY000"},
	sqlerr.NotNullViolation:           {1048, "23000"},
	sqlerr.CheckViolation:             {3819, "HY000"},
	sqlerr.CardinalityViolation:       {1242, "21000"},
	sqlerr.StringTooLong:              {1406, "22001"},
	sqlerr.NumericOutOfRange:          {1690, "22003"},
	sqlerr.DivisionByZero:             {1365, "22012"},
	sqlerr.InvalidDatetimeFormat:      {1292, "22007"},
	sqlerr.DatetimeOverflow:           {1292, "22007"},
	sqlerr.IntervalFieldOverflow:      {1292, "22007"},
	sqlerr.InvalidTimeZone:            {1298, "HY000"},
	sqlerr.InvalidTextRepresentation:  {1366, "HY000"},
	sqlerr.StringCut:                  {1260, "HY000"},
	sqlerr.ValueCut:                   {1265, "01000"},
	sqlerr.ValueClipped:               {1264, "22003"},
	sqlerr.InvalidBinary:              {1210, "HY000"},
	sqlerr.InvalidParameterValue:      {1210, "HY000"},
	sqlerr.InvalidRegexp:              {3692, "HY000"},
	sqlerr.InvalidLimit:               {1327, "42000"},
	sqlerr.InvalidOffset:              {1327, "42000"},
	sqlerr.InvalidEscape:              {1210, "HY000"},
	sqlerr.InvalidLogarithm:           {3020, "2201E"},
	sqlerr.InvalidPower:               {1690, "22003"},
	sqlerr.NullNotAllowed:             {1048, "23000"},
	sqlerr.CharacterNotInRepertoire:   {1300, "HY000"},
	sqlerr.UntranslatableCharacter:    {1300, "HY000"},
	sqlerr.SubstringError:             {1210, "HY000"},
	sqlerr.DataException:              {1366, "HY000"},
	sqlerr.ArraySubscript:             {1210, "HY000"},
	sqlerr.BadCopyFormat:              {1210, "HY000"},
	sqlerr.GroupingError:              {1055, "42000"},
	sqlerr.WindowingError:             {3593, "HY000"},
	sqlerr.InvalidRecursion:           {3573, "HY000"},
	sqlerr.WrongObjectType:            {1347, "HY000"},
	sqlerr.CannotCoerce:               {1267, "HY000"},
	sqlerr.DatatypeMismatch:           {1267, "HY000"},
	sqlerr.CollationMismatch:          {1267, "HY000"},
	sqlerr.IndeterminateDatatype:      {1210, "HY000"},
	sqlerr.InvalidColumnReference:     {1054, "42S22"},
	sqlerr.InvalidTableDefinition:     {1063, "42000"},
	sqlerr.InvalidSchemaDefinition:    {1102, "42000"},
	sqlerr.InvalidName:                {1103, "42000"},
	sqlerr.FeatureNotSupported:        {1235, "42000"},
	sqlerr.InsufficientPrivilege:      {1142, "42000"},
	sqlerr.InvalidAuthorization:       {1045, "28000"},
	sqlerr.InvalidPassword:            {1045, "28000"},
	sqlerr.ReadOnlyTransaction:        {1792, "25006"},
	sqlerr.ActiveTransaction:          {1568, "25001"},
	sqlerr.NoActiveTransaction:        {1568, "25001"},
	sqlerr.InFailedTransaction:        {1568, "25001"},
	sqlerr.InvalidSavepoint:           {1305, "42000"},
	sqlerr.SerializationFailure:       {1213, "40001"},
	sqlerr.TransactionUnknown:         {1180, "HY000"},
	sqlerr.QueryCanceled:              {1317, "70100"},
	sqlerr.AdminShutdown:              {1053, "08S01"},
	sqlerr.CannotConnectNow:           {1053, "08S01"},
	sqlerr.TooManyConnections:         {1040, "08004"},
	sqlerr.OutOfMemory:                {1038, "HY001"},
	sqlerr.DiskFull:                   {1021, "HY000"},
	sqlerr.IOError:                    {1030, "HY000"},
	sqlerr.SystemError:                {1030, "HY000"},
	sqlerr.UndefinedFile:              {1017, "HY000"},
	sqlerr.DuplicateFile:              {1086, "HY000"},
	sqlerr.ConnectionException:        {1030, "HY000"},
	sqlerr.ConnectionFailure:          {1030, "HY000"},
	sqlerr.StatementTooComplex:        {1436, "HY000"},
	sqlerr.ProgramLimitExceeded:       {1153, "08S01"},
	sqlerr.TooManyColumns:             {1117, "HY000"},
	sqlerr.InvalidStatementName:       {1243, "HY000"},
	sqlerr.DuplicatePreparedStatement: {1243, "HY000"},
	sqlerr.InvalidCursorName:          {1324, "42000"},
	sqlerr.InvalidCursorState:         {1326, "24000"},
	sqlerr.DuplicateCursor:            {1333, "42000"},
	sqlerr.ProtocolViolation:          {1835, "HY000"},
	sqlerr.ObjectNotInPrerequisite:    {1235, "42000"},
	sqlerr.SnapshotTooOld:             {1105, "72000"},
	sqlerr.DataCorrupted:              {1030, "HY000"},
	sqlerr.InvalidObjectDefinition:    {3102, "HY000"},
	sqlerr.GeneratedAlways:            {3105, "HY000"},
	sqlerr.SequenceLimit:              {1467, "HY000"},
	sqlerr.InternalError:              {1815, "HY000"},
}

// asMySQL says err as a MySQL client expects it.
func asMySQL(err error) *mysqlError {
	var m *mysqlError
	if errors.As(err, &m) {
		return m
	}
	e, ok := sqlerr.As(err)
	if !ok {
		return wireError(1815, "HY000", "Internal error: %v", err)
	}
	text := e.Message
	if e.Code == sqlerr.QueryCanceled && strings.HasPrefix(text, "canceling statement due to user") {
		text = "Query execution was interrupted"
	}
	text = inMySQL(e.Code, text)
	if e.Detail != "" {
		text += " (" + e.Detail + ")"
	}
	// The protocol has no place for a hint but the message.
	if e.Hint != "" {
		text += ". " + e.Hint
	}
	if e.Number != 0 {
		state := string(e.Code)
		if e.Code == sqlerr.QueryCanceled || e.Code == sqlerr.InsufficientPrivilege {
			state = "HY000" // the engine's codes tell more than MySQL's
		}
		return &mysqlError{e.Number, state, text}
	}
	if n, ok := numbers[e.Code]; ok {
		return &mysqlError{n.number, n.state, text}
	}
	state := string(e.Code)
	if len(state) != 5 {
		state = "HY000"
	}
	return &mysqlError{1105, state, text}
}

// namedIn finds what a message of the engine's is about.
var namedIn = regexp.MustCompile(`"([^"]*)" (?:does not exist|already exists)$`)

// inMySQL words the messages that clients and their users know by heart as MySQL does.
func inMySQL(code sqlerr.Code, text string) string {
	m := namedIn.FindStringSubmatch(text)
	if m == nil {
		return text
	}
	switch code {
	case sqlerr.UndefinedTable:
		return "Table '" + m[1] + "' doesn't exist"
	case sqlerr.UndefinedColumn:
		return "Unknown column '" + m[1] + "' in 'field list'"
	case sqlerr.DuplicateTable:
		return "Table '" + m[1] + "' already exists"
	case sqlerr.InvalidSchemaName:
		return "Unknown database '" + m[1] + "'"
	case sqlerr.DuplicateSchema:
		return "Can't create database '" + m[1] + "'; database exists"
	}
	return text
}

// noteOf is a notice of the engine's as SHOW WARNINGS shows it.
func noteOf(n *sqlerr.Error) engine.MySQLWarning {
	level := "Note"
	if strings.HasPrefix(string(n.Code), "01") || n.Code == sqlerr.NoActiveTransaction || n.Code == sqlerr.ActiveTransaction {
		level = "Warning"
	}
	number := uint16(1105)
	if m, ok := numbers[n.Code]; ok {
		number = m.number
	}
	if n.Number != 0 {
		number = n.Number
	}
	return engine.MySQLWarning{Level: level, Number: number, Text: n.Message}
}

// sendError sends an ERR packet.
func (c *conn) sendError(err error) {
	e := asMySQL(err)
	c.w.begin()
	c.w.byte(0xff)
	c.w.int16(e.number)
	if c.greeted { // before the greeting no client expects a SQLSTATE
		c.w.byte('#')
		c.w.text(e.state)
	}
	c.w.text(strings.ReplaceAll(e.text, "\x00", ""))
	c.w.end()
}
