-- Edits of keywords, by the events that recorded them, so that each can be taken back.

-- Rows of note_keywords say when each was carried, to the millisecond; an event may share its
-- millisecond with others, and this says which keywords were its own.
CREATE TABLE keyword_edits (
    event_id INTEGER PRIMARY KEY REFERENCES events (seq),
    note_id  TEXT NOT NULL REFERENCES notes (id) ON DELETE CASCADE,
    added    TEXT NOT NULL,                         -- JSON list of keyword_ids
    removed  TEXT NOT NULL                          -- the same
) STRICT;
CREATE INDEX keyword_edits_by_note ON keyword_edits (note_id, event_id);
