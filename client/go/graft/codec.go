package graft

import (
	"fmt"

	"google.golang.org/protobuf/proto"
)

// codec writes messages with google.golang.org/protobuf. A grpc-go from before 2021 has the older
// library built in, which does not know messages that today's generator makes.
type codec struct{}

func (codec) Name() string { return "proto" }

func (codec) Marshal(value interface{}) ([]byte, error) {
	message, ok := value.(proto.Message)
	if !ok {
		return nil, fmt.Errorf("%T is no message", value)
	}
	return proto.Marshal(message)
}

func (codec) Unmarshal(data []byte, value interface{}) error {
	message, ok := value.(proto.Message)
	if !ok {
		return fmt.Errorf("%T is no message", value)
	}
	return proto.Unmarshal(data, message)
}
