package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// mysqlClient speaks as much of MySQL's protocol as asking for one number takes.
type mysqlClient struct{ c net.Conn }

// mysqlError is an error packet.
type mysqlError struct {
	number uint16
	state  string
	text   string
}

func (e *mysqlError) Error() string { return e.text }

// dialMySQL logs in as a user without a password.
func dialMySQL(ctx context.Context, addr string) (*mysqlClient, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return nil, err
	}
	if until, ok := ctx.Deadline(); ok {
		c.SetDeadline(until)
	} else {
		c.SetDeadline(time.Now().Add(patience))
	}
	m := &mysqlClient{c}
	if _, _, err = m.read(); err == nil {
		const protocol41, secure, pluginAuth, deprecateEOF = 0x200, 0x8000, 0x80000, 0x1000000
		b := binary.LittleEndian.AppendUint32(nil, protocol41|secure|pluginAuth|deprecateEOF|1)
		b = append(binary.LittleEndian.AppendUint32(b, 1<<24), 255)
		b = append(b, make([]byte, 23)...)
		b = append(b, "lake\x00\x00caching_sha2_password\x00"...)
		if err = m.write(1, b); err == nil {
			_, _, err = m.read()
		}
	}
	if err != nil {
		c.Close()
		return nil, err
	}
	return m, nil
}

func (m *mysqlClient) write(seq byte, b []byte) error {
	const most = 1<<24 - 1
	for {
		n := min(len(b), most)
		head := []byte{byte(n), byte(n >> 8), byte(n >> 16), seq}
		if _, err := m.c.Write(append(head, b[:n]...)); err != nil {
			return err
		}
		if b, seq = b[n:], seq+1; n < most {
			return nil
		}
	}
}

// read gives the first byte and the length of the next packet; an error packet is an error.
func (m *mysqlClient) read() (first byte, length int, err error) {
	for {
		var head [4]byte
		if _, err := io.ReadFull(m.c, head[:]); err != nil {
			return 0, 0, err
		}
		n := int(head[0]) | int(head[1])<<8 | int(head[2])<<16
		b := make([]byte, n)
		if _, err := io.ReadFull(m.c, b); err != nil {
			return 0, 0, err
		}
		if length == 0 && n > 8 && b[0] == 0xff {
			return 0, 0, &mysqlError{binary.LittleEndian.Uint16(b[1:]), string(b[4:9]), string(b[9:])}
		}
		if length == 0 && n > 0 {
			first = b[0]
		}
		if length += n; n < 1<<24-1 {
			return first, length, nil
		}
	}
}

// ask runs a query and counts its rows.
func (m *mysqlClient) ask(sql string) (rows int64, err error) {
	if err := m.write(0, append([]byte{3}, sql...)); err != nil {
		return 0, err
	}
	columns, _, err := m.read()
	if err != nil || columns == 0 {
		return 0, err
	}
	for range columns {
		if _, _, err := m.read(); err != nil {
			return 0, err
		}
	}
	for {
		first, n, err := m.read()
		if err != nil {
			return rows, err
		}
		if first == 0xfe && n < 1<<24-1 {
			return rows, nil
		}
		rows++
	}
}

// mysqlCode gives MySQL's errors of memory and size the SQLSTATE that the other wire has for them.
func mysqlCode(err error) string {
	var e *mysqlError
	if !errors.As(err, &e) {
		return "lost"
	}
	switch e.number {
	case 1037, 1038, 1041, 1135, 3170:
		return outOfMemory
	case 1301, 1153:
		return tooLarge
	case 1436:
		return tooComplex
	}
	return fmt.Sprintf("%d %s", e.number, e.state)
}
