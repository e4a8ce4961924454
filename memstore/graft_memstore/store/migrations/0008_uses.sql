-- How often each note was given out. Written behind the answers, in batches.

-- A note without a row has not been given out since meta's "uses_since".
CREATE TABLE note_uses (
    note_id TEXT NOT NULL PRIMARY KEY REFERENCES notes (id) ON DELETE CASCADE,
    strong  INTEGER NOT NULL,                       -- as the STRONG answer to a question
    got     INTEGER NOT NULL,                       -- by its id
    last_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What happened before was not counted; of a new file there is no before.
INSERT INTO meta (name, value) SELECT 'uses_since', value FROM meta WHERE name = 'last_time_ms';
