package checksum

import (
	"encoding/json"
	"strings"
	"testing"
)

// An error of JSON says the member and what it must be, and names no type of Go.
func TestWords(t *testing.T) {
	t.Parallel()
	for _, row := range []struct{ text, want string }{
		{`[]`, "it is a JSON array, not an object"},
		{`{"name": 5}`, `member "name" is a JSON number, not a string`},
		{`{"size": "x"}`, `member "size" is a JSON string, not an integer`},
		{`{"size": 1.5}`, `member "size" is a JSON number, not an integer`},
		{`{"crc": -1}`, `member "crc" is a JSON number, not an integer of at least 0`},
		{`{"in": {"on": "yes"}}`, `member "in.on" is a JSON string, not true or false`},
		{`{"list": {}}`, `member "list" is a JSON object, not an array`},
		{`{"rate": true}`, `member "rate" is a JSON bool, not a number`},
		{`{"other": 1}`, `unknown field "other"`},
		{`{"name"`, "its JSON is cut short: unexpected EOF"},
		{``, "its JSON is cut short: unexpected EOF"},
		{`{name}`, "not JSON at byte 2: invalid character 'n' looking for beginning of object key string"},
	} {
		var v struct {
			Name string  `json:"name"`
			Size int64   `json:"size"`
			CRC  uint32  `json:"crc"`
			Rate float64 `json:"rate"`
			List []int   `json:"list"`
			In   struct {
				On bool `json:"on"`
			} `json:"in"`
		}
		if err := Decode([]byte(row.text), &v); err == nil || err.Error() != row.want {
			t.Errorf("%s: %v, want %s", row.text, err, row.want)
		}
		if err := Words(json.Unmarshal([]byte(row.text), &v)); err != nil && strings.Contains(err.Error(), "Go ") {
			t.Errorf("%s: %v", row.text, err)
		}
	}
	if err := Words(nil); err != nil {
		t.Error(err)
	}
}
