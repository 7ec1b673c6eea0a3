// Generate writes the datasets of testdata: WebDataset shards of drawn pictures with their class and a
// JSON description, pictures as a folder and as a CBOR sequence, and points as CSV. It writes the same
// bytes every time.
//
//	go run ./testdata/generate testdata
package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"image"
	"image/jpeg"
	"image/png"
	"log"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"
)

const (
	shards     = 10
	samples    = 12 // per shard
	firstShard = 20261121
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: generate DIRECTORY")
	}
	for i := range shards {
		data, err := shard(i)
		if err == nil {
			err = os.WriteFile(filepath.Join(os.Args[1], fmt.Sprintf("shards-%03d.tar", i)), data, 0o644)
		}
		if err != nil {
			log.Fatal(err)
		}
	}
	if err := writeSources(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

// A member is one file of a sample.
type member struct {
	suffix string
	data   []byte
}

func shard(i int) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	rnd := rand.New(rand.NewPCG(firstShard, uint64(i)))
	for j := range samples {
		members, err := sample(rnd, j)
		if err != nil {
			return nil, err
		}
		for _, m := range members {
			// As webdataset's TarWriter writes them.
			h := &tar.Header{
				Name: fmt.Sprintf("%06d.%s", i*samples+j, m.suffix), Size: int64(len(m.data)), Mode: 0o444,
				Uname: "bigdata", Gname: "bigdata", ModTime: time.Unix(1_600_000_000, 0), Format: tar.FormatUSTAR,
			}
			if err := w.WriteHeader(h); err != nil {
				return nil, err
			}
			if _, err := w.Write(m.data); err != nil {
				return nil, err
			}
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// sample draws one picture, as PNG for every fourth sample and as JPEG otherwise. Every sixth sample
// also has a mask of its subject, seg.png.
func sample(rnd *rand.Rand, j int) ([]member, error) {
	d := draw(rnd)
	var picture, mask bytes.Buffer
	suffix := "jpg"
	err := error(nil)
	if j%4 == 3 {
		suffix = "png"
		err = png.Encode(&picture, d.picture)
	} else {
		err = jpeg.Encode(&picture, d.picture, &jpeg.Options{Quality: 85})
	}
	if err != nil {
		return nil, err
	}
	about, err := json.Marshal(d.about)
	if err != nil {
		return nil, err
	}
	members := []member{
		{suffix, picture.Bytes()},
		{"cls", fmt.Append(nil, d.about.Class)},
		{"json", about},
	}
	if j%6 == 5 {
		if err := png.Encode(&mask, image.Image(d.mask)); err != nil {
			return nil, err
		}
		members = append(members, member{"seg.png", mask.Bytes()})
	}
	return members, nil
}
