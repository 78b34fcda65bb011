package store

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// Versions is an FS whose removed objects may live on as versions of before.
type Versions interface {
	// RemoveVersions removes all versions of an object that was removed. left are those that stay,
	// for which err tells why. Where the store keeps no versions there are none; left -1 says that it
	// cannot be told.
	RemoveVersions(ctx context.Context, path string) (removed, left int, err error)
	// OldVersions counts the versions of objects in a folder that are not what lies there now.
	OldVersions(ctx context.Context, folder string) (int, error)
}

// RemoveVersions removes what a store has kept of a removed object. A store that knows no versions
// has none.
func RemoveVersions(ctx context.Context, store FS, path string) (removed, left int, err error) {
	if v, ok := store.(Versions); ok {
		return v.RemoveVersions(ctx, path)
	}
	return 0, 0, nil
}

// OldVersions implements Versions.
func (g *Guard) OldVersions(ctx context.Context, folder string) (int, error) {
	folder = Canonical(folder)
	v, ok := g.Inner.(Versions)
	if err := Allowed(folder, g.Prefixes); err != nil || !ok {
		return 0, err
	}
	return v.OldVersions(ctx, folder)
}

// OldVersions implements Versions.
func (s *Store) OldVersions(ctx context.Context, folder string) (int, error) {
	f, err := s.at(ctx, folder)
	if err != nil {
		return 0, err
	}
	if v, ok := f.(Versions); ok {
		return v.OldVersions(ctx, folder)
	}
	return 0, nil
}

// OldVersions implements Versions.
func (s *s3FS) OldVersions(ctx context.Context, folder string) (n int, err error) {
	bucket, key, err := bucketKey(strings.TrimRight(folder, "/") + "/")
	if err != nil {
		return 0, err
	}
	pages := s3.NewListObjectVersionsPaginator(s.client, &s3.ListObjectVersionsInput{Bucket: &bucket, Prefix: &key})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if noVersions(err) {
			return n, nil
		}
		if err != nil {
			return n, s.fault(err, "list versions in", folder)
		}
		for _, v := range page.Versions {
			if !aws.ToBool(v.IsLatest) {
				n++
			}
		}
	}
	return n, nil
}

// noVersions recognises a store that does not know the question.
func noVersions(err error) bool {
	var r *awshttp.ResponseError
	return errors.As(err, &r) && (r.HTTPStatusCode() == http.StatusNotImplemented || r.HTTPStatusCode() == http.StatusMethodNotAllowed)
}

// RemoveVersions implements Versions.
func (g *Guard) RemoveVersions(ctx context.Context, path string) (removed, left int, err error) {
	path = Canonical(path)
	if err := Allowed(path, g.Prefixes); err != nil {
		return 0, 0, err
	}
	return RemoveVersions(ctx, g.Inner, path)
}

// RemoveVersions implements Versions.
func (s *Store) RemoveVersions(ctx context.Context, path string) (removed, left int, err error) {
	f, err := s.at(ctx, path)
	if err != nil {
		return 0, 0, err
	}
	return RemoveVersions(ctx, f, path)
}

// RemoveVersions implements Versions. Delete markers go as well: they have no bytes, but a name.
func (s *s3FS) RemoveVersions(ctx context.Context, path string) (removed, left int, err error) {
	bucket, key, err := bucketKey(path)
	if err != nil {
		return 0, 0, err
	}
	remove := func(k, id *string) error {
		if aws.ToString(k) != key || aws.ToString(id) == "" {
			return nil
		}
		_, e := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &bucket, Key: &key, VersionId: id})
		if e = s.fault(e, "remove a version of", path); e != nil {
			left++
			if err == nil {
				err = e
			}
			return ctx.Err()
		}
		removed++
		return nil
	}
	pages := s3.NewListObjectVersionsPaginator(s.client, &s3.ListObjectVersionsInput{Bucket: &bucket, Prefix: &key})
	for pages.HasMorePages() {
		page, e := pages.NextPage(ctx)
		if noVersions(e) {
			return removed, left, err
		}
		if e != nil {
			return removed, -1, s.fault(e, "list versions of", path)
		}
		for _, v := range page.Versions {
			if e := remove(v.Key, v.VersionId); e != nil {
				return removed, left, e
			}
		}
		for _, m := range page.DeleteMarkers {
			if e := remove(m.Key, m.VersionId); e != nil {
				return removed, left, e
			}
		}
	}
	return removed, left, err
}
