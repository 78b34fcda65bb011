package pgfunc

import (
	"github.com/lhsql/lhsql/eval"
	"github.com/lhsql/lhsql/types"
)

// settingRow is a row of pg_settings, which is a view over pg_show_all_settings.
var settingRow = func() types.Type {
	var fields []types.Field
	text := func(names ...string) {
		for _, n := range names {
			fields = append(fields, types.Field{Name: n, Type: eval.TText})
		}
	}
	text("name", "setting", "unit", "category", "short_desc", "extra_desc", "context", "vartype", "source", "min_val", "max_val")
	fields = append(fields, types.Field{Name: "enumvals", Type: types.ArrayOf(eval.TText)})
	text("boot_val", "reset_val", "sourcefile")
	fields = append(fields, types.Field{Name: "sourceline", Type: eval.TInt4}, types.Field{Name: "pending_restart", Type: eval.TBool})
	return types.RecordOf(fields...)
}()

func registerSettings() {
	eval.Register(eval.Stable("pg_show_all_settings", nil, settingRow, eval.SetKernel(showAllSettings)))
}

func showAllSettings(c *eval.Ctx, _ []types.Datum, yield func(types.Datum) error) error {
	s, err := session(c)
	if err != nil {
		return err
	}
	rows, _, err := s.Call(callContext(c), "pg_show_all_settings", nil)
	if err != nil {
		return err
	}
	for _, r := range rows.List() {
		if err := yield(r); err != nil {
			return err
		}
	}
	return nil
}
