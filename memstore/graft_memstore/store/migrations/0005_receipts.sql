-- What answers were made of, so that they can be explained. Never holds text.
--
-- A ring: the oldest rows go when there are too many.

CREATE TABLE receipts (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    receipt_id TEXT NOT NULL UNIQUE CHECK (length(receipt_id) = 32),
    at         INTEGER NOT NULL,
    content    TEXT NOT NULL                        -- JSON
) STRICT;
CREATE INDEX receipts_by_suffix ON receipts (substr(receipt_id, 25), receipt_id);

-- Questions that nothing answered, a row for all that ask the same in the same scopes. Here, and
-- nowhere else, stands what people typed; a ring, as above.
CREATE TABLE misses (
    miss_id     INTEGER PRIMARY KEY AUTOINCREMENT,
    scopes      TEXT NOT NULL,                      -- JSON list, sorted; [] where all were asked
    all_scopes  INTEGER NOT NULL CHECK (all_scopes IN (0, 1)),
    words_hash  BLOB NOT NULL,                      -- of the folded words of the first of them
    count       INTEGER NOT NULL CHECK (count > 0),
    first_at    INTEGER NOT NULL,
    last_at     INTEGER NOT NULL,
    answered_by TEXT,                               -- counts as long as that note can be seen
    model       TEXT,                               -- identity of what made the vector
    mean        REAL,                               -- background of the first question's cosines
    deviation   REAL,
    vector      BLOB,                               -- of the first of them, as in chunks
    question    TEXT NOT NULL                       -- the beginning of the first of them
) STRICT;
CREATE UNIQUE INDEX misses_by_words ON misses (scopes, all_scopes, words_hash);
CREATE INDEX misses_by_time ON misses (last_at);
