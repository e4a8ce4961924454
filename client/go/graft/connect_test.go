package graft

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestAHomeWhereNothingRunsNamesTheCommandThatStartsIt(t *testing.T) {
	for _, record := range []string{"", "{", `{"socket": 7}`, `{"socket": "/nowhere/x.sock"}`} {
		home := t.TempDir()
		if record != "" {
			write(t, filepath.Join(home, "memstore.json"), record)
		}

		_, err := Connect(home, "")

		if !errors.Is(err, ErrNobody) || !strings.Contains(err.Error(), "graft start") {
			t.Errorf("%q: %v", record, err)
		}
	}
}

func TestTheRecordTellsTheSocket(t *testing.T) {
	home := t.TempDir()
	write(t, filepath.Join(home, "memstore.json"), `{"socket": "/run/x.sock", "pid": 7}`)

	socket, err := FindSocket(home)

	if err != nil || socket != "/run/x.sock" {
		t.Error(socket, err)
	}
}

func TestAConnectionIsMadeToWhoeverListens(t *testing.T) {
	home := t.TempDir()
	socket := filepath.Join(home, "s")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	write(t, filepath.Join(home, "memstore.json"), `{"socket": "`+socket+`"}`)

	connection, err := Connect(home, "")

	if err != nil {
		t.Fatal(err)
	}
	connection.Close()
}

func TestRequestIdsAreUUIDsAndDiffer(t *testing.T) {
	form := regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`)
	one, other := NewRequestID(), NewRequestID()

	if !form.MatchString(one) || one == other {
		t.Error(one, other)
	}
}

func TestMetadataIsASCIIAndNeverEndsInsideACharactersCode(t *testing.T) {
	if encoded := encode("agent 7%测"); encoded != "agent%207%25%E6%B5%8B" {
		t.Error(encoded)
	}
	for length := 250; length < 260; length++ {
		encoded := encode(strings.Repeat("a", length) + " 测")
		if len(encoded) > 256 || regexp.MustCompile(`%[0-9A-F]?$`).MatchString(encoded) {
			t.Error(encoded)
		}
	}
}

func write(t *testing.T, path, content string) {
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}
