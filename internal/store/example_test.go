package store_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/ffconvert/ffconvert/internal/store"
)

func Example() {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"v1"`)
		http.ServeContent(w, r, "labels.csv", time.Time{}, strings.NewReader("a,1\nb,2\n"))
	}))
	defer srv.Close()
	dir, err := os.MkdirTemp("", "remote")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file, err := os.Create(filepath.Join(dir, "labels.csv"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer file.Close()

	ctx := context.Background()
	client := store.New(store.Options{})
	defer client.Close()
	object, err := client.Stat(ctx, srv.URL+"/labels.csv")
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := client.Fetch(ctx, object, file, nil); err != nil {
		fmt.Println(err)
		return
	}
	data, _ := os.ReadFile(file.Name())
	fmt.Printf("%d bytes of version %s:\n%s", object.Size, object.Version, data)
	// Output:
	// 8 bytes of version "v1":
	// a,1
	// b,2
}

func ExampleRedact() {
	fmt.Println(store.Redact("https://me:secret@bucket.s3.amazonaws.com/train.tar?X-Amz-Date=20260101T000000Z&X-Amz-Signature=1f2e"))
	// Output: https://bucket.s3.amazonaws.com/train.tar?X-Amz-Signature=REDACTED
}
