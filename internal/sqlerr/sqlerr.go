// Package sqlerr answers one question: what does the user get told when a statement fails?
//
// An Error carries a SQLSTATE, a message without jargon, and where possible a byte position
// in the statement and a hint. It knows nothing of wires: wire/pg and wire/mysql translate it.
// Three kinds of failure exist (docs/architecture.md): the user's, made here with New; the
// world's, made here with Wrap (SQLSTATE class 58 or 08) once, with the operation and object;
// ours, an invariant panic, which the engine turns into XX000 in one place.
package sqlerr

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
)

// Code is a SQLSTATE (PostgreSQL manual, appendix A).
type Code string

// The codes that lhsql raises. PostgreSQL's names.
const (
	SuccessfulCompletion       Code = "00000" // of a notice
	StringCut                  Code = "01004"
	ValueCut                   Code = "01S01" // MySQL: what did not fit was cut
	ValueClipped               Code = "01S07" // MySQL: a number was made the nearest that fits
	NoData                     Code = "02000"
	ConnectionException        Code = "08000"
	ConnectionFailure          Code = "08006"
	ProtocolViolation          Code = "08P01"
	TransactionUnknown         Code = "08007"
	FeatureNotSupported        Code = "0A000"
	CardinalityViolation       Code = "21000"
	DataException              Code = "22000"
	ArraySubscript             Code = "2202E"
	InvalidTablesampleRepeat   Code = "2202G"
	InvalidTablesampleArgument Code = "2202H"
	DatetimeOverflow           Code = "22008"
	DivisionByZero             Code = "22012"
	IntervalFieldOverflow      Code = "22015"
	InvalidLimit               Code = "2201W"
	InvalidOffset              Code = "2201X"
	InvalidRegexp              Code = "2201B"
	InvalidLogarithm           Code = "2201E"
	InvalidPower               Code = "2201F"
	InvalidEscape              Code = "22025"
	InvalidDatetimeFormat      Code = "22007"
	InvalidParameterValue      Code = "22023"
	InvalidTextRepresentation  Code = "22P02"
	InvalidBinary              Code = "22P03"
	BadCopyFormat              Code = "22P04"
	UntranslatableCharacter    Code = "22P05"
	InvalidTimeZone            Code = "22009"
	NullNotAllowed             Code = "22004"
	NumericOutOfRange          Code = "22003"
	StringTooLong              Code = "22001"
	SubstringError             Code = "22011"
	CharacterNotInRepertoire   Code = "22021"
	NotNullViolation           Code = "23502"
	UniqueViolation            Code = "23505"
	ForeignKeyViolation        Code = "23503"
	InvalidForeignKey          Code = "42830"
	CheckViolation             Code = "23514"
	InvalidCursorState         Code = "24000"
	ActiveTransaction          Code = "25001"
	ReadOnlyTransaction        Code = "25006"
	NoActiveTransaction        Code = "25P01"
	InFailedTransaction        Code = "25P02"
	IdleInTransactionTimeout   Code = "25P03"
	InvalidStatementName       Code = "26000"
	InvalidGrantOperation      Code = "0LP01"
	PrivilegeNotGranted        Code = "01007" // of a warning
	PrivilegeNotRevoked        Code = "01006" // of a warning
	ReservedName               Code = "42939"
	InvalidAuthorization       Code = "28000"
	InvalidPassword            Code = "28P01"
	InvalidCatalogName         Code = "3D000"
	InvalidCursorName          Code = "34000"
	InvalidSavepoint           Code = "3B001"
	InvalidSchemaName          Code = "3F000"
	SerializationFailure       Code = "40001"
	SyntaxError                Code = "42601"
	InsufficientPrivilege      Code = "42501"
	CannotCoerce               Code = "42846"
	GroupingError              Code = "42803"
	WindowingError             Code = "42P20"
	InvalidRecursion           Code = "42P19"
	WrongObjectType            Code = "42809"
	UndefinedColumn            Code = "42703"
	UndefinedFunction          Code = "42883"
	UndefinedTable             Code = "42P01"
	UndefinedParameter         Code = "42P02"
	UndefinedObject            Code = "42704"
	DuplicateColumn            Code = "42701"
	DuplicateTable             Code = "42P07"
	DuplicateSchema            Code = "42P06"
	DuplicateObject            Code = "42710"
	DuplicateAlias             Code = "42712"
	DuplicateCursor            Code = "42P03"
	DuplicatePreparedStatement Code = "42P05"
	AmbiguousColumn            Code = "42702"
	AmbiguousFunction          Code = "42725"
	AmbiguousParameter         Code = "42P08"
	AmbiguousAlias             Code = "42P09"
	DatatypeMismatch           Code = "42804"
	IndeterminateDatatype      Code = "42P18"
	CollationMismatch          Code = "42P21"
	InvalidColumnReference     Code = "42P10"
	InvalidTableDefinition     Code = "42P16"
	InvalidName                Code = "42602"
	InvalidSchemaDefinition    Code = "42P15"
	DependentObjectsExist      Code = "2BP01"
	OutOfMemory                Code = "53200"
	DiskFull                   Code = "53100"
	TooManyConnections         Code = "53300"
	ConfigurationLimitExceeded Code = "53400"
	StatementTooComplex        Code = "54001"
	TooManyColumns             Code = "54011"
	ProgramLimitExceeded       Code = "54000"
	ObjectNotInPrerequisite    Code = "55000"
	ObjectInUse                Code = "55006"
	LockNotAvailable           Code = "55P03"
	QueryCanceled              Code = "57014"
	AdminShutdown              Code = "57P01"
	CannotConnectNow           Code = "57P03"
	SystemError                Code = "58000"
	IOError                    Code = "58030"
	UndefinedFile              Code = "58P01"
	DuplicateFile              Code = "58P02"
	SnapshotTooOld             Code = "72000"
	ConfigFileError            Code = "F0000"
	InvalidObjectDefinition    Code = "42P17"
	GeneratedAlways            Code = "428C9"
	SequenceLimit              Code = "2200H"
	InternalError              Code = "XX000"
	DataCorrupted              Code = "XX001"
)

// Error is what a client is told. Pos is a byte offset into the statement's text, from 0;
// -1 means that no position is known (wires convert to 1-based characters).
type Error struct {
	Code    Code
	Message string
	Detail  string
	Hint    string
	Pos     int
	Cause   error // the world's error underneath, never shown with secrets
	// Number is MySQL's number of the error, where its code does not say it; 0: it does.
	Number uint16
}

func (e *Error) Error() string { return e.Message }

// Warning tells a warning from a notice, of what is said beside a result.
func (e *Error) Warning() bool {
	return strings.HasPrefix(string(e.Code), "01") || e.Code == NoActiveTransaction || e.Code == ActiveTransaction
}

// Unwrap gives the cause, for errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Cause }

// New makes a user's error without a position.
func New(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...), Pos: -1}
}

// At sets the byte position, if it is not set yet, and returns e.
func (e *Error) At(pos int) *Error {
	if e.Pos < 0 {
		e.Pos = pos
	}
	return e
}

// WithHint sets the hint and returns e.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// WithDetail sets the detail and returns e.
func (e *Error) WithDetail(format string, args ...any) *Error {
	e.Detail = fmt.Sprintf(format, args...)
	return e
}

// WithNumber gives e a number of MySQL's and returns e.
func (e *Error) WithNumber(number uint16) *Error {
	e.Number = number
	return e
}

// Wrap turns an error of the world into an Error once, naming the operation and its object:
// Wrap(err, IOError, "reading %s", path). An err that already is an *Error passes unchanged.
func Wrap(err error, code Code, format string, args ...any) error {
	if err == nil {
		return nil
	}
	var e *Error
	if errors.As(err, &e) {
		return err
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		code = DiskFull // whatever was being done
	}
	return &Error{Code: code, Message: fmt.Sprintf(format, args...) + ": " + err.Error(), Pos: -1, Cause: err}
}

// As finds the *Error in err's chain.
func As(err error) (*Error, bool) {
	var e *Error
	ok := errors.As(err, &e)
	return e, ok
}

// CodeOf gives err's code, InternalError when err carries none, "" for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	if e, ok := As(err); ok {
		return e.Code
	}
	return InternalError
}
