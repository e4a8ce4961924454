-- What waits for a reviewer, by what a note was verified, and rejections that were lifted.

-- A row for each thing to judge. It is known by its kind and the digest of its evidence, open or
-- decided: what was judged does not come back until its evidence is another. Never holds text of
-- a note; the notes that it names are read when it is shown.
CREATE TABLE review_items (
    item_id    INTEGER PRIMARY KEY AUTOINCREMENT,
    kind       TEXT NOT NULL CHECK (kind IN
        ('candidate', 'held', 'proposal', 'restated-rejection', 'duplicate', 'supersession',
         'contradiction', 'possible-contradiction', 'changed-source', 'removed-source',
         'keyword-variant', 'isolated', 'never-used', 'expired', 'purge-due')),
    evidence   BLOB NOT NULL CHECK (length(evidence) = 32),
    note_id    TEXT REFERENCES notes (id) ON DELETE CASCADE,
    other_id   TEXT REFERENCES notes (id) ON DELETE CASCADE,
    scope      TEXT,                                -- of what is about no note that is stored
    measure    REAL,                                -- how much of it: a cosine, a count
    detail     TEXT NOT NULL,                       -- JSON: ids, numbers, keywords
    event_id   INTEGER REFERENCES events (seq),     -- of whoever asked for it; NULL: upkeep
    opened_at  INTEGER NOT NULL,
    decision   TEXT CHECK (decision IN ('approve', 'reject', 'keep-both', 'supersede')),
    decided_by INTEGER REFERENCES events (seq),
    decided_at INTEGER,
    CHECK ((note_id IS NULL) = (scope IS NOT NULL)),
    CHECK (other_id IS NULL OR (note_id IS NOT NULL AND other_id <> note_id)),
    CHECK ((decision IS NULL) = (decided_at IS NULL))
) STRICT;
CREATE UNIQUE INDEX review_items_by_evidence ON review_items (kind, evidence);
CREATE INDEX review_items_open ON review_items (item_id) WHERE decided_at IS NULL;
CREATE INDEX review_items_by_note ON review_items (note_id) WHERE note_id IS NOT NULL;
CREATE INDEX review_items_by_other ON review_items (other_id) WHERE other_id IS NOT NULL;

-- Notes that were held before there was a queue. What tells them apart is all that counts here.
INSERT INTO review_items (kind, evidence, note_id, detail, event_id, opened_at)
SELECT state.trust, randomblob(32), state.note_id, '{}', state.event_id, state.known_from
FROM note_states AS state
WHERE state.known_to IS NULL AND state.lifecycle = 'active'
  AND state.trust IN ('candidate', 'held');

-- By what a note was verified, JSON; it stays while the note is disputed or stale.
ALTER TABLE note_states ADD COLUMN oracle TEXT;

-- A rejection that a reviewer lifted stays on record and binds nobody.
ALTER TABLE tombstones ADD COLUMN lifted_at INTEGER;
ALTER TABLE tombstones ADD COLUMN lifted_by INTEGER REFERENCES events (seq);
DROP INDEX tombstones_by_value;
CREATE UNIQUE INDEX tombstones_by_value ON tombstones (value_hash, scope) WHERE lifted_at IS NULL;
DROP INDEX tombstones_by_words;
CREATE INDEX tombstones_by_words ON tombstones (words_hash, scope)
    WHERE words_hash IS NOT NULL AND lifted_at IS NULL;
