package guard

// Bootstrap is the OID of the first administrator of the configuration, who owns what nobody else does.
const Bootstrap OID = 10

// The predefined roles, with PostgreSQL's OIDs. They are there without being anybody's, and cannot be
// changed or dropped. pg_maintain is PostgreSQL 17's.
const (
	DatabaseOwner OID = 6171
	ReadAllData   OID = 6181
	writeAllData  OID = 6182
	maintainAll   OID = 6337

	ReadAllSettings  OID = 3374
	ReadAllStats     OID = 3375
	ReadServerFiles  OID = 4569 // tables by their path, files that become a table's
	WriteServerFiles OID = 4570 // tables at a location of one's own
	SignalBackend    OID = 4200
)

var predefined = []Role{
	{OID: DatabaseOwner, Name: "pg_database_owner"},
	{OID: ReadAllData, Name: "pg_read_all_data"},
	{OID: writeAllData, Name: "pg_write_all_data"},
	{OID: 3373, Name: "pg_monitor"},
	{OID: ReadAllSettings, Name: "pg_read_all_settings"},
	{OID: ReadAllStats, Name: "pg_read_all_stats"},
	{OID: 3377, Name: "pg_stat_scan_tables"},
	{OID: ReadServerFiles, Name: "pg_read_server_files"},
	{OID: WriteServerFiles, Name: "pg_write_server_files"},
	{OID: 4571, Name: "pg_execute_server_program"},
	{OID: SignalBackend, Name: "pg_signal_backend"},
	{OID: 4544, Name: "pg_checkpoint"},
	{OID: maintainAll, Name: "pg_maintain"},
}

// predefinedMembers are the memberships among them: the first is a member of the others.
var predefinedMembers = map[OID][]OID{3373: {ReadAllSettings, ReadAllStats, 3377}}

func isPredefined(oid OID) bool {
	for i := range predefined {
		if predefined[i].OID == oid {
			return true
		}
	}
	return false
}
