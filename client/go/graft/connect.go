// Package graft finds the memory of a home and connects to it over its Unix socket.
//
// It starts nothing: `graft start` does.
package graft

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// Protocol is what every call says of its caller: the protocol's number, and a version.
const Protocol = "1;go-0.1.0"

// Timeout is how long a call may take whose context has no deadline.
const Timeout = 30 * time.Second

const messageBytesMax = 64 << 20

// ErrNobody says that no memstore answers in a home.
var ErrNobody = errors.New("no memstore answers; start it with: graft start")

// Home returns the directory of the memory: GRAFT_HOME, else ~/.graft.
func Home() (string, error) {
	if home := os.Getenv("GRAFT_HOME"); home != "" {
		return home, nil
	}
	user, err := os.UserHomeDir()
	return filepath.Join(user, ".graft"), err
}

// FindSocket returns where the memstore of home listens, by the record that it keeps there.
func FindSocket(home string) (string, error) {
	var record struct{ Socket string }
	content, err := os.ReadFile(filepath.Join(home, "memstore.json"))
	if err == nil {
		err = json.Unmarshal(content, &record)
	}
	if err != nil || record.Socket == "" {
		return "", fmt.Errorf("%s: %w", home, ErrNobody)
	}
	return record.Socket, nil
}

// Connect returns a connection to the memstore of home. session names the agent's session, which is
// kept with what it changes; it may be empty.
func Connect(home, session string) (*grpc.ClientConn, error) {
	socket, err := FindSocket(home)
	if err != nil {
		return nil, err
	}
	probe, err := net.DialTimeout("unix", socket, 2*time.Second)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", socket, ErrNobody)
	}
	probe.Close()
	return grpc.Dial(
		"passthrough:///localhost",
		grpc.WithInsecure(),
		// A socket's path is no authority that every server takes.
		grpc.WithAuthority("localhost"),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", socket)
		}),
		grpc.WithUnaryInterceptor(withMetadata(session)),
		grpc.WithDefaultCallOptions(
			grpc.ForceCodec(codec{}),
			grpc.MaxCallRecvMsgSize(messageBytesMax),
			grpc.MaxCallSendMsgSize(messageBytesMax),
		),
	)
}

// NewRequestID returns a UUID for a request that changes something. Keep it when you repeat the call.
func NewRequestID() string {
	var id [16]byte
	if _, err := rand.Read(id[:]); err != nil {
		panic(err) // without randomness nothing here is safe
	}
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// withMetadata gives every call what the service wants to know of its caller, and a deadline.
func withMetadata(session string) grpc.UnaryClientInterceptor {
	pairs := []string{"graft-door", "library", "graft-protocol", Protocol}
	if session != "" {
		pairs = append(pairs, "graft-session", encode(session))
	}
	return func(
		ctx context.Context, method string, request, reply interface{},
		connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption,
	) error {
		if _, has := ctx.Deadline(); !has {
			limited, cancel := context.WithTimeout(ctx, Timeout)
			defer cancel()
			ctx = limited
		}
		ctx = metadata.AppendToOutgoingContext(ctx, pairs...)
		return invoke(ctx, method, request, reply, connection, options...)
	}
}

// encode returns value percent-encoded and cut to 256 bytes, never inside of %XX.
func encode(value string) string {
	var encoded strings.Builder
	for _, each := range []byte(value) {
		piece := string(rune(each))
		if each <= ' ' || each >= 0x7f || each == '%' {
			piece = fmt.Sprintf("%%%02X", each)
		}
		if encoded.Len()+len(piece) > 256 {
			break
		}
		encoded.WriteString(piece)
	}
	return encoded.String()
}
