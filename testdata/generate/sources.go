package main

import (
	"bytes"
	"fmt"
	"image/jpeg"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"

	"github.com/fxamacker/cbor/v2"
)

const (
	pictures = 24 // of shapes/ and shapes.cbors
	parts    = 4  // of points/
	rows     = 50 // of each of them
)

// writeSources writes the small datasets of the other sources below dir.
func writeSources(dir string) error {
	files := map[string][]byte{}
	rnd := rand.New(rand.NewPCG(firstShard, shards))
	var sequence bytes.Buffer
	for i := range pictures {
		d := draw(rnd)
		var picture bytes.Buffer
		if err := jpeg.Encode(&picture, d.picture, &jpeg.Options{Quality: 85}); err != nil {
			return err
		}
		files[fmt.Sprintf("shapes/%s/%03d.jpg", d.about.Name, i)] = picture.Bytes()
		item, err := cbor.Marshal(struct {
			Key   string `cbor:"__key__"`
			Image []byte `cbor:"image"`
			Class int    `cbor:"cls"`
			Size  [2]int `cbor:"size"`
		}{fmt.Sprintf("%03d", i), picture.Bytes(), d.about.Class, [2]int{d.about.Width, d.about.Height}})
		if err != nil {
			return err
		}
		sequence.Write(item)
	}
	files["shapes.cbors"] = sequence.Bytes()
	for p := range parts {
		files[fmt.Sprintf("points/part-%d", p)] = points(rnd)
	}
	shardMDS(files)
	for name, data := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// points returns rows of x, y and whether the point is in the circle.
func points(rnd *rand.Rand) []byte {
	var b []byte
	for range rows {
		x, y := rnd.Float64()*2-1, rnd.Float64()*2-1
		inside := 0
		if math.Hypot(x, y) < 1 {
			inside = 1
		}
		b = strconv.AppendFloat(b, x, 'g', -1, 64)
		b = strconv.AppendFloat(append(b, ','), y, 'g', -1, 64)
		b = fmt.Appendf(b, ",%d\n", inside)
	}
	return b
}
