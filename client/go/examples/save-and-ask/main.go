// Save-and-ask saves a note, asks for it, and shows how a refusal is told.
package main

import (
	"context"
	"fmt"
	"log"

	"example.com/graft/graft"
	memory "example.com/graft/memory/v1"
)

func main() {
	home, err := graft.Home()
	if err != nil {
		log.Fatal(err)
	}
	connection, err := graft.Connect(home, "save-and-ask")
	if err != nil {
		log.Fatal(err)
	}
	defer connection.Close()
	notes, recall := memory.NewNotesServiceClient(connection), memory.NewRecallServiceClient(connection)

	saved, err := notes.InsertNote(context.Background(), &memory.InsertNoteRequest{
		RequestId: graft.NewRequestID(),
		Note: &memory.NewNote{
			Title:    "pip fails behind the proxy with a certificate error",
			Body:     "Set PIP_CERT to the company's CA bundle.",
			Keywords: []string{"pip"},
			Scope:    "user",
		},
	})
	if err != nil {
		log.Fatal(graft.ReadRefusal(err).Message)
	}
	fmt.Println("saved", saved.Note.Id[24:], "to", saved.Note.Scope)

	answer, err := recall.Query(context.Background(), &memory.QueryRequest{
		Scope: &memory.ScopeFilter{Scopes: []string{"user"}},
		Text:  "pip certificate verify failed behind a corporate proxy",
	})
	if err != nil {
		log.Fatal(graft.ReadRefusal(err).Message)
	}
	fmt.Println(answer.Hit, answer.GetNote().GetTitle(), answer.GetNote().GetBody())

	_, err = notes.GetNote(context.Background(), &memory.GetNoteRequest{Id: "ffffffff"})
	refusal := graft.ReadRefusal(err)
	fmt.Printf("%s: %s\n", refusal.Reason, refusal.Message)

	_, err = notes.InsertNote(context.Background(), &memory.InsertNoteRequest{
		RequestId: graft.NewRequestID(), Note: &memory.NewNote{},
	})
	refusal = graft.ReadRefusal(err)
	fmt.Println(refusal.Reason, refusal.Fields)
}
