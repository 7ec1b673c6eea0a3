package remote

import (
	"context"
	"iter"
	"strings"

	"github.com/minio/minio-go/v7"
)

func (s *s3Store) list(ctx context.Context, prefix string) iter.Seq2[Object, error] {
	return func(yield func(Object, error) bool) {
		bucket, keys, bad := splitBucket(prefix, true)
		if bad != nil {
			yield(Object{}, bad)
			return
		}
		scheme, _, _ := strings.Cut(prefix, "://")
		var order sequence
		seen := &s3Seen{}
		stopped := false
		err := s.call(ctx, prefix, bucket, seen, func(ctx context.Context, c *minio.Core) error {
			owner := false
			opts := minio.ListObjectsOptions{Prefix: keys, Recursive: true, MaxKeys: s.page, FetchOwner: &owner}
			for info := range c.ListObjectsIter(ctx, bucket, opts) {
				if info.Err != nil {
					return info.Err
				}
				seen.pages = 0
				if err := order.next(keys, info.Key); err != nil {
					return noList(prefix, err)
				}
				o := Object{URL: scheme + "://" + bucket + "/" + info.Key, Size: info.Size, Version: strong(info.ETag), Modified: info.LastModified}
				if stopped = !yield(o, nil); stopped {
					return nil
				}
			}
			return context.Cause(ctx) // at which the iterator ends without a word
		})
		if err != nil && !stopped {
			yield(Object{}, err)
		}
	}
}
