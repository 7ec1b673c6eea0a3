package main

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
)

const (
	shardsMDS  = 2
	samplesMDS = 20 // of a shard
)

// shardMDS adds shards as MosaicML's streaming writes them, and their index, to files: a class, a text and an array each.
// A shard is N, N+1 offsets (all u32), a configuration in JSON, and the samples: sizes of the values without a fixed
// size (u32), then the values.
func shardMDS(files map[string][]byte) {
	const columns = `"column_encodings": ["int", "str", "ndarray:uint8"], "column_names": ["cls", "text", "vec"], "column_sizes": [8, null, null], "compression": null, "format": "mds", "hashes": ["sha256"], %s"size_limit": 67108864, "version": 2`
	word := binary.LittleEndian.AppendUint32
	var about []string
	for k := range shardsMDS {
		head := "{" + fmt.Sprintf(columns, "") + "}"
		at := 4 + 4*(samplesMDS+1) + len(head)
		data := word(word(nil, samplesMDS), uint32(at))
		var body []byte
		for i := range samplesMDS {
			text := strings.Repeat("text ", i)
			vec := "\x04\x02" + string([]byte{byte(k), byte(i)}) // one axis, of two
			body = word(word(body, uint32(len(text))), uint32(len(vec)))
			body = binary.LittleEndian.AppendUint64(body, uint64(samplesMDS*k+i))
			body = append(body, text+vec...)
			data = word(data, uint32(at+len(body)))
		}
		data = append(append(data, head...), body...)
		name := fmt.Sprintf("shard.%05d.mds", k)
		files["mds/"+name] = data
		raw := fmt.Sprintf(`"raw_data": {"basename": %q, "bytes": %d, "hashes": {"sha256": "%x"}}, "samples": %d, `, name, len(data), sha256.Sum256(data), samplesMDS)
		about = append(about, "{"+fmt.Sprintf(columns, raw)+`, "zip_data": null}`)
	}
	files["mds/index.json"] = []byte(`{"shards": [` + strings.Join(about, ", ") + `], "version": 2}`)
}
