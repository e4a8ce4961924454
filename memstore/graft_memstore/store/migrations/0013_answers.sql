-- What the gate answered, a row for each question: figures and ids, never a word of the question.

CREATE TABLE answers (
    seq        INTEGER PRIMARY KEY AUTOINCREMENT,
    at         INTEGER NOT NULL,
    scope      TEXT NOT NULL,                       -- the first that was looked at; '*' for all
    door       TEXT NOT NULL,
    agent      TEXT NOT NULL,                       -- as it names itself; '' where it does not
    hit        TEXT NOT NULL CHECK (hit IN ('STRONG', 'WEAK', 'MISS')),
    note_id    TEXT,                                -- of the answer; the note may be gone by now
    degraded   INTEGER NOT NULL CHECK (degraded IN (0, 1)),
    service_ms REAL NOT NULL,
    embed_ms   REAL NOT NULL                        -- within service_ms
) STRICT;
CREATE INDEX answers_by_time ON answers (at);
