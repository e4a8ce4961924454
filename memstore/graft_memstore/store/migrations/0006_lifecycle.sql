-- What was rejected, so that it does not come back, and notes that replaced one another.

-- Digests alone: a note that was rejected may be erased, and is refused all the same. Never pruned.
CREATE TABLE tombstones (
    tombstone_id INTEGER PRIMARY KEY AUTOINCREMENT,
    value_hash   BLOB NOT NULL CHECK (length(value_hash) = 32),
    words_hash   BLOB CHECK (length(words_hash) = 32),  -- NULL where no word of it says anything
    scope        TEXT NOT NULL,                         -- one of 'user' binds every scope
    reason       TEXT NOT NULL,
    actor        TEXT NOT NULL,
    at           INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX tombstones_by_value ON tombstones (value_hash, scope);
CREATE INDEX tombstones_by_words ON tombstones (words_hash, scope) WHERE words_hash IS NOT NULL;

-- A note has many edges and was replaced by one note at most.
CREATE INDEX edges_to_superseded ON edges (dst) WHERE kind = 'SUPERSEDES';
CREATE INDEX edges_from_successor ON edges (src) WHERE kind = 'SUPERSEDES';
