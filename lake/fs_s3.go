package lake

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	s3types "github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/uuid"
	"github.com/lhsql/lhsql/internal/clock"
	"github.com/lhsql/lhsql/internal/redact"
	"github.com/lhsql/lhsql/internal/sqlerr"
)

// s3FS is an S3-compatible object store. One client is shared by all calls; each call has its
// own context. Objects are created with If-None-Match, so that none is ever replaced (S2).
type s3FS struct {
	client *s3.Client
	name   string // of the store, which two endpoints with one bucket do not share
	props  map[string]string
}

// newS3 reads the properties as PyIceberg spells them: s3.endpoint, s3.region,
// s3.access-key-id, s3.secret-access-key, s3.session-token, s3.force-virtual-addressing; also
// client.region and s3.path-style-access, which REST catalogs written in Java send.
func newS3(ctx context.Context, props map[string]string) (FS, error) {
	var opts []func(*config.LoadOptions) error
	if r := cmp.Or(props["s3.region"], props["client.region"]); r != "" {
		opts = append(opts, config.WithRegion(r))
	} else if props["s3.endpoint"] != "" {
		opts = append(opts, config.WithRegion("us-east-1")) // stores other than Amazon's take any
	}
	if k := props["s3.access-key-id"]; k != "" {
		opts = append(opts, config.WithCredentialsProvider(credentials.NewStaticCredentialsProvider(k, props["s3.secret-access-key"], props["s3.session-token"])))
	}
	cfg, err := config.LoadDefaultConfig(context.WithoutCancel(ctx), opts...)
	if err != nil {
		return nil, sqlerr.Wrap(redact.Error(err, props), sqlerr.ConfigFileError, "configure the object store")
	}
	client := s3.NewFromConfig(cfg, func(o *s3.Options) {
		if e := props["s3.endpoint"]; e != "" {
			o.BaseEndpoint = aws.String(e)
			o.UsePathStyle = !strings.EqualFold(props["s3.force-virtual-addressing"], "true")
		}
		if p := props["s3.path-style-access"]; p != "" {
			o.UsePathStyle = strings.EqualFold(p, "true")
		}
		o.HTTPClient = quietClient{o.HTTPClient, quietProperty(props, "s3.request-timeout", time.Second)}
		o.Retryer = storeRetryer{retry.NewStandard(func(o *retry.StandardOptions) {
			o.MaxAttempts = storeTries
			o.RateLimiter = ratelimit.None // each statement has a time of its own
			o.Backoff = retry.BackoffDelayerFunc(func(n int, _ error) (time.Duration, error) { return jittered(storePause, n), nil })
			o.Retryables = append([]retry.IsErrorRetryable{retry.IsErrorRetryableFunc(passing)}, o.Retryables...)
		})}
		// Older stores know no checksum trailers: send them only where they are required.
		o.RequestChecksumCalculation = aws.RequestChecksumCalculationWhenRequired
		o.ResponseChecksumValidation = aws.ResponseChecksumValidationWhenRequired
	})
	return &s3FS{client: client, name: props["s3.endpoint"], props: props}, nil
}

// storeTries is how often one request to a store is made, and how often in a row the body of an
// object may bring nothing before it ends.
const storeTries = 6

// storePause is the pause after the first of them, which the others double.
var storePause = 100 * time.Millisecond

// quietClient gives up a store that says nothing.
type quietClient struct {
	next  s3.HTTPClient
	quiet time.Duration
}

func (c quietClient) Do(r *http.Request) (*http.Response, error) { return once(c.next.Do, r, c.quiet) }

// storeRetryer waits as long as a store asks for.
type storeRetryer struct{ *retry.Standard }

func (r storeRetryer) RetryDelay(n int, err error) (time.Duration, error) {
	var a *awshttp.ResponseError
	if errors.As(err, &a) && a.Response != nil && a.Response.Response != nil {
		if told, says := retryAfter(a.Response.Response); says {
			return told, nil
		}
	}
	return r.Standard.RetryDelay(n, err)
}

// passing recognises what goes away by itself: a store that is busy with another request for the
// same object (409), that asks to come again (429), or that fell silent or off in the middle.
func passing(err error) aws.Ternary {
	var a *awshttp.ResponseError
	if errors.As(err, &a) && a.Response != nil && a.Response.Response != nil {
		switch told, _ := retryAfter(a.Response.Response); {
		case told > longestRetryAfter:
			return aws.FalseTernary
		case a.HTTPStatusCode() == http.StatusConflict, a.HTTPStatusCode() == http.StatusTooManyRequests:
			return aws.TrueTernary
		}
	}
	if brokenOff(err) {
		return aws.TrueTernary
	}
	return aws.UnknownTernary
}

// brokenOff recognises a connection that ended, or fell silent, in the middle of an answer.
func brokenOff(err error) bool {
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, errQuiet)
}

func bucketKey(path string) (bucket, key string, err error) {
	rest, ok := strings.CutPrefix(Canonical(path), "s3://")
	bucket, key, _ = strings.Cut(rest, "/")
	if !ok || bucket == "" || key == "" {
		return "", "", fmt.Errorf("%q is no location of an object", path)
	}
	return bucket, key, nil
}

// fault gives missing and existing objects the errors that FS promises.
func (s *s3FS) fault(err error, op, path string) error {
	var r *awshttp.ResponseError
	if errors.As(err, &r) {
		switch r.HTTPStatusCode() {
		case http.StatusNotFound:
			return &fs.PathError{Op: op, Path: path, Err: fs.ErrNotExist}
		case http.StatusPreconditionFailed:
			return &fs.PathError{Op: op, Path: path, Err: fs.ErrExist}
		}
	}
	if err != nil {
		err = s.safe(fmt.Errorf("%s %s: %w", op, path, err))
	}
	return err
}

// safe is err without what a store, a proxy before it or the network library put into its text that is
// nobody's to see: keys, tokens, the signatures of requests.
func (s *s3FS) safe(err error) error { return redact.Error(err, s.props) }

func (s *s3FS) Open(ctx context.Context, path string, size int64) (File, error) {
	bucket, key, err := bucketKey(path)
	if err != nil {
		return nil, err
	}
	if size < 0 {
		h, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &bucket, Key: &key})
		if err != nil {
			return nil, s.fault(err, "open", path)
		}
		size = aws.ToInt64(h.ContentLength)
	}
	return &s3File{s, path, bucket, key, size}, nil
}

type s3File struct {
	s                 *s3FS
	path, bucket, key string
	size              int64
}

func (f *s3File) Size() int64  { return f.size }
func (f *s3File) Close() error { return nil }
func (f *s3File) Identity() string {
	return f.s.name + " s3://" + f.bucket + "/" + f.key + "#" + strconv.FormatInt(f.size, 36)
}

// Identity implements Identified.
func (s *s3FS) Identity(_ context.Context, path string) string { return s.name + " " + Canonical(path) }

func (f *s3File) ReadAt(ctx context.Context, p []byte, off int64) error {
	if len(p) == 0 {
		return nil
	}
	// A body that ends early is gone on with from there, of the same object.
	var tag *string
	for tries := 0; ; {
		n, t, err := f.piece(ctx, p, off, tag)
		if err == nil {
			return nil
		}
		if p, off, tag = p[n:], off+int64(n), t; n > 0 {
			tries = 0
		}
		if tries++; !inBody(ctx, err, tries) {
			return err
		}
		if err := clock.Sleep(ctx, jittered(storePause, tries)); err != nil {
			return err
		}
	}
}

// bodyError is an error of a response's body. The client's library has requests made again whose
// responses do not begin well, but does not see their bodies.
type bodyError struct{ error }

func (e bodyError) Unwrap() error { return e.error }

// inBody tells whether to read once more after what was met in a response's body the n-th time.
func inBody(ctx context.Context, err error, n int) bool {
	var b bodyError
	return errors.As(err, &b) && brokenOff(err) && n < storeTries && ctx.Err() == nil
}

// piece reads p, or as much of it as comes; tag is what the object must have, if not nil, and
// what it has.
func (f *s3File) piece(ctx context.Context, p []byte, off int64, tag *string) (int, *string, error) {
	rng := fmt.Sprintf("bytes=%d-%d", off, off+int64(len(p))-1)
	out, err := f.s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &f.bucket, Key: &f.key, Range: &rng, IfMatch: tag})
	if err != nil {
		return 0, tag, f.s.fault(err, "read", f.path)
	}
	defer out.Body.Close()
	if n := aws.ToInt64(out.ContentLength); out.ContentLength != nil && n != int64(len(p)) {
		return 0, tag, fmt.Errorf("read %s: %d bytes at %d are not there, but %d", f.path, len(p), off, n)
	}
	n, err := io.ReadFull(out.Body, p)
	if err != nil {
		err = bodyError{f.s.safe(fmt.Errorf("read %s: %w", f.path, err))}
	}
	return n, out.ETag, err
}

func (s *s3FS) ReadAll(ctx context.Context, path string) ([]byte, error) {
	bucket, key, err := bucketKey(path)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		b, err := s.whole(ctx, path, bucket, key)
		if err == nil || !inBody(ctx, err, try) {
			return b, err
		}
		if err := clock.Sleep(ctx, jittered(storePause, try)); err != nil {
			return nil, err
		}
	}
}

func (s *s3FS) whole(ctx context.Context, path, bucket, key string) ([]byte, error) {
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &bucket, Key: &key})
	if err != nil {
		return nil, s.fault(err, "read", path)
	}
	defer out.Body.Close()
	b, err := io.ReadAll(io.LimitReader(out.Body, maxMetadata+1))
	switch {
	case err != nil:
		return nil, bodyError{s.safe(fmt.Errorf("read %s: %w", path, err))}
	case len(b) > maxMetadata:
		return nil, fmt.Errorf("read %s: larger than %d bytes", path, maxMetadata)
	case out.ContentLength != nil && *out.ContentLength != int64(len(b)):
		return nil, bodyError{fmt.Errorf("read %s: %w", path, io.ErrUnexpectedEOF)}
	}
	return b, nil
}

func (s *s3FS) Create(ctx context.Context, path string, data []byte) error {
	bucket, key, err := bucketKey(path)
	if err != nil {
		return err
	}
	_, err = s.client.PutObject(ctx, &s3.PutObjectInput{Bucket: &bucket, Key: &key, Body: bytes.NewReader(data), IfNoneMatch: aws.String("*")})
	err = s.fault(err, "create", path)
	if errors.Is(err, fs.ErrExist) {
		// It may be our own, of an attempt whose answer was lost and that the client retried.
		if b, e := s.ReadAll(ctx, path); e == nil && bytes.Equal(b, data) {
			return nil
		}
	}
	return err
}

// s3Part is the size of a part of a multipart upload; S3 takes up to 10,000.
const s3Part = 16 << 20

func (s *s3FS) CreateStream(ctx context.Context, path string) (Writer, error) {
	bucket, key, err := bucketKey(path)
	if err != nil {
		return nil, err
	}
	return &s3Writer{s: s, ctx: ctx, path: path, bucket: bucket, key: key}, nil
}

// s3Writer buffers one part. An object of less than a part is put in one request.
type s3Writer struct {
	s                 *s3FS
	ctx               context.Context // of the stream: Write has none of its own
	path, bucket, key string
	buf               bytes.Buffer
	upload            *string
	mark              string // in the object's metadata: it is this upload's
	size              int64
	parts             []s3types.CompletedPart
	done              bool
}

func (w *s3Writer) Write(p []byte) (int, error) {
	n, _ := w.buf.Write(p)
	for w.buf.Len() >= s3Part {
		if err := w.part(w.ctx, w.buf.Next(s3Part)); err != nil {
			return 0, err
		}
	}
	return n, nil
}

func (w *s3Writer) part(ctx context.Context, b []byte) error {
	if w.upload == nil {
		w.mark = uuid.NewString()
		out, err := w.s.client.CreateMultipartUpload(ctx, &s3.CreateMultipartUploadInput{Bucket: &w.bucket, Key: &w.key, Metadata: map[string]string{uploadMark: w.mark}})
		if err != nil {
			return w.s.fault(err, "create", w.path)
		}
		w.upload = out.UploadId
	}
	n := int32(len(w.parts) + 1)
	out, err := w.s.client.UploadPart(ctx, &s3.UploadPartInput{Bucket: &w.bucket, Key: &w.key, UploadId: w.upload, PartNumber: &n, Body: bytes.NewReader(b)})
	if err != nil {
		return w.s.fault(err, "write", w.path)
	}
	w.size += int64(len(b))
	w.parts = append(w.parts, s3types.CompletedPart{ETag: out.ETag, PartNumber: &n})
	return nil
}

func (w *s3Writer) Commit(ctx context.Context) error {
	if w.upload == nil {
		err := w.s.Create(ctx, w.path, w.buf.Bytes())
		w.done = err == nil
		return err
	}
	if w.buf.Len() > 0 {
		if err := w.part(ctx, w.buf.Bytes()); err != nil {
			return err
		}
	}
	_, err := w.s.client.CompleteMultipartUpload(ctx, &s3.CompleteMultipartUploadInput{Bucket: &w.bucket, Key: &w.key, UploadId: w.upload,
		MultipartUpload: &s3types.CompletedMultipartUpload{Parts: w.parts}, IfNoneMatch: aws.String("*")})
	if err = w.s.fault(err, "create", w.path); errors.Is(err, fs.ErrExist) || errors.Is(err, fs.ErrNotExist) {
		// The answer may have been lost and the request repeated: then the upload is gone, or its own
		// object stands in its way.
		h, e := w.s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &w.bucket, Key: &w.key})
		if e == nil && h.Metadata[uploadMark] == w.mark && aws.ToInt64(h.ContentLength) == w.size {
			err = nil
		}
	}
	w.done = err == nil
	return err
}

// uploadMark is the name of the entry in an object's metadata that tells which upload made it.
const uploadMark = "lhsql-upload"

func (w *s3Writer) Abort() {
	if w.done || w.upload == nil {
		return
	}
	w.done = true
	_, _ = w.s.client.AbortMultipartUpload(context.WithoutCancel(w.ctx), &s3.AbortMultipartUploadInput{Bucket: &w.bucket, Key: &w.key, UploadId: w.upload})
}

func (s *s3FS) Remove(ctx context.Context, path string) error {
	bucket, key, err := bucketKey(path)
	if err != nil {
		return err
	}
	_, err = s.client.DeleteObject(ctx, &s3.DeleteObjectInput{Bucket: &bucket, Key: &key})
	return s.fault(err, "remove", path)
}

func (s *s3FS) List(ctx context.Context, prefix string, yield func(Object) error) error {
	bucket, key, err := bucketKey(strings.TrimRight(prefix, "/") + "/")
	if err != nil {
		return err
	}
	pages := s3.NewListObjectsV2Paginator(s.client, &s3.ListObjectsV2Input{Bucket: &bucket, Prefix: &key})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return s.fault(err, "list", prefix)
		}
		for _, o := range page.Contents {
			if err := yield(Object{Path: "s3://" + bucket + "/" + aws.ToString(o.Key), Size: aws.ToInt64(o.Size), Modified: aws.ToTime(o.LastModified)}); err != nil {
				return err
			}
		}
	}
	return nil
}
