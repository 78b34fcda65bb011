package mysql

import "github.com/lhsql/lhsql/engine"

// Capability flags (MySQL 8.0 reference, "Capabilities Flags").
const (
	capLongPassword   = 1 << 0
	capFoundRows      = 1 << 1
	capLongFlag       = 1 << 2
	capConnectWithDB  = 1 << 3
	capIgnoreSpace    = 1 << 8
	capProtocol41     = 1 << 9
	capInteractive    = 1 << 10
	capSSL            = 1 << 11
	capTransactions   = 1 << 13
	capSecure         = 1 << 15
	capMultiStmts     = 1 << 16
	capMultiResults   = 1 << 17
	capPSMultiResults = 1 << 18
	capPluginAuth     = 1 << 19
	capConnectAttrs   = 1 << 20
	capLenencAuth     = 1 << 21
	capDeprecateEOF   = 1 << 24
)

// offered is what the server can do; TLS is added where it is configured.
const offered = capLongPassword | capFoundRows | capLongFlag | capConnectWithDB | capIgnoreSpace | capProtocol41 |
	capInteractive | capTransactions | capSecure | capMultiStmts | capMultiResults | capPSMultiResults | capPluginAuth |
	capConnectAttrs | capLenencAuth | capDeprecateEOF

// Status flags of OK and EOF packets.
const (
	statusInTrans     = 0x0001
	statusAutocommit  = 0x0002
	statusMoreResults = 0x0008
	statusCursor      = 0x0040
	statusLastRow     = 0x0080
	statusReadOnly    = 0x2000
)

// Commands.
const (
	comQuit        = 0x01
	comInitDB      = 0x02
	comQuery       = 0x03
	comFieldList   = 0x04
	comStatistics  = 0x09
	comProcessKill = 0x0c
	comDebug       = 0x0d
	comPing        = 0x0e
	comChangeUser  = 0x11
	comPrepare     = 0x16
	comExecute     = 0x17
	comLongData    = 0x18
	comClose       = 0x19
	comReset       = 0x1a
	comSetOption   = 0x1b
	comFetch       = 0x1c
	comResetConn   = 0x1f
)

// Column types on the wire.
const (
	typeDecimal    = 0x00
	typeTiny       = 0x01
	typeShort      = 0x02
	typeLong       = 0x03
	typeFloat      = 0x04
	typeDouble     = 0x05
	typeNull       = 0x06
	typeTimestamp  = 0x07
	typeLongLong   = 0x08
	typeInt24      = 0x09
	typeDate       = 0x0a
	typeTime       = 0x0b
	typeDatetime   = 0x0c
	typeYear       = 0x0d
	typeVarchar    = 0x0f
	typeBit        = 0x10
	typeJSON       = 0xf5
	typeNewDecimal = 0xf6
	typeEnum       = 0xf7
	typeSet        = 0xf8
	typeTinyBlob   = 0xf9
	typeMediumBlob = 0xfa
	typeLongBlob   = 0xfb
	typeBlob       = 0xfc
	typeVarString  = 0xfd
	typeString     = 0xfe
)

// Column flags.
const (
	flagNotNull  = 1
	flagPrimary  = 2
	flagBlob     = 16
	flagUnsigned = 32
	flagZerofill = 64
	flagBinary   = 128
	flagEnum     = 256
	flagSet      = 2048
	flagNumber   = 32768
)

// Collations by number: what text leaves in, and bytes.
const (
	collationText   = 255 // utf8mb4_0900_ai_ci
	collationBinary = 63
)

// The server's version: clients choose their catalog queries and their plugins by it. It is what
// the handshake, VERSION() and @@version all say.
const serverVersion = engine.MySQLVersion
