package graft

import (
	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/status"
)

// Refusal is why a call failed.
type Refusal struct {
	// Reason is a name of graft.memory.v1.ErrorReason; empty where the service gave none.
	Reason string
	// Message says what happened, then what to do.
	Message string
	// Facts is what else is known, such as "note_id".
	Facts map[string]string
	// Fields are those that cannot be taken, each with why.
	Fields map[string]string
}

// ReadRefusal reads what err, returned by a call, tells.
func ReadRefusal(err error) Refusal {
	told := status.Convert(err)
	refusal := Refusal{Message: told.Message(), Fields: map[string]string{}}
	for _, detail := range told.Details() {
		switch each := detail.(type) {
		case *errdetails.ErrorInfo:
			refusal.Reason, refusal.Facts = each.Reason, each.Metadata
		case *errdetails.BadRequest:
			for _, violation := range each.FieldViolations {
				refusal.Fields[violation.Field] = violation.Description
			}
		}
	}
	return refusal
}
