-- Notes, their states, words, vectors and the audit chain.
--
-- Every time is UTC milliseconds. Ids of notes are 32 lower-case hex digits (UUIDv7).
-- Rows with known_from and known_to are system-versioned: known_to IS NULL is the present row.

CREATE TABLE meta (
    name  TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The text of a note never changes; a new text is a new note.
CREATE TABLE notes (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT, -- rowid of notes_fts and notes_pieces
    id           TEXT NOT NULL UNIQUE CHECK (length(id) = 32),
    kind         TEXT NOT NULL CHECK (kind IN ('note', 'dead-end')),
    author       TEXT NOT NULL,
    channel      TEXT NOT NULL,                     -- how it came in: insert, later import or sync
    scope        TEXT NOT NULL,
    content_hash BLOB NOT NULL CHECK (length(content_hash) = 32),
    value_hash   BLOB NOT NULL CHECK (length(value_hash) = 32),
    recorded_at  INTEGER NOT NULL,
    site         TEXT NOT NULL,
    hlc          INTEGER NOT NULL,
    title        TEXT NOT NULL,
    body         TEXT NOT NULL                      -- last: reading scope never walks a long text
) STRICT;
CREATE INDEX notes_by_suffix ON notes (substr(id, 25), id);
CREATE INDEX notes_by_content ON notes (content_hash, scope);
CREATE INDEX notes_by_value ON notes (value_hash, scope);
CREATE INDEX notes_by_scope ON notes (scope, recorded_at, id);
CREATE INDEX notes_by_time ON notes (recorded_at, id);

CREATE TABLE note_states (
    state_id   INTEGER PRIMARY KEY AUTOINCREMENT,
    note_id    TEXT NOT NULL REFERENCES notes (id) ON DELETE CASCADE,
    lifecycle  TEXT NOT NULL CHECK (lifecycle IN ('active', 'superseded', 'retired')),
    trust      TEXT NOT NULL CHECK (trust IN
        ('candidate', 'observed', 'verified', 'disputed', 'stale', 'held', 'rejected')),
    valid_from INTEGER,
    valid_to   INTEGER,
    expires_at INTEGER,
    known_from INTEGER NOT NULL,
    known_to   INTEGER,
    reason     TEXT NOT NULL,
    event_id   INTEGER NOT NULL REFERENCES events (seq),
    CHECK (valid_from IS NULL OR valid_to IS NULL OR valid_from < valid_to)
) STRICT;
CREATE UNIQUE INDEX note_states_now ON note_states (note_id) WHERE known_to IS NULL;
CREATE INDEX note_states_by_note ON note_states (note_id, known_from);
-- The few present states that may hide a note: counting what can be seen is counting notes less these.
CREATE INDEX note_states_hiding ON note_states (note_id)
    WHERE known_to IS NULL
      AND (lifecycle <> 'active' OR trust IN ('held', 'rejected') OR expires_at IS NOT NULL
           OR valid_from IS NOT NULL OR valid_to IS NOT NULL);

CREATE TABLE keywords (
    keyword_id INTEGER PRIMARY KEY,
    keyword    TEXT NOT NULL UNIQUE                 -- after NFC and trim
) STRICT;

CREATE TABLE note_keywords (
    note_id    TEXT NOT NULL REFERENCES notes (id) ON DELETE CASCADE,
    keyword_id INTEGER NOT NULL REFERENCES keywords (keyword_id),
    origin     TEXT NOT NULL CHECK (origin IN ('author', 'merged')),
    known_from INTEGER NOT NULL,
    known_to   INTEGER,
    PRIMARY KEY (note_id, keyword_id, known_from)
) STRICT, WITHOUT ROWID;
CREATE INDEX note_keywords_by_keyword ON note_keywords (keyword_id, note_id);

CREATE TABLE sources (
    source_id INTEGER PRIMARY KEY,
    project   TEXT NOT NULL,
    kind      TEXT NOT NULL CHECK (kind IN
        ('file', 'url', 'commit', 'test', 'conversation', 'manual')),
    locator   TEXT NOT NULL,
    UNIQUE (project, kind, locator)
) STRICT;

CREATE TABLE note_sources (
    note_id     TEXT NOT NULL REFERENCES notes (id) ON DELETE CASCADE,
    source_id   INTEGER NOT NULL REFERENCES sources (source_id),
    fingerprint TEXT,
    observed_at INTEGER NOT NULL,
    known_from  INTEGER NOT NULL,
    known_to    INTEGER,
    PRIMARY KEY (note_id, source_id, known_from)
) STRICT, WITHOUT ROWID;
CREATE INDEX note_sources_by_source ON note_sources (source_id, note_id);

-- Models whose vectors this profile holds. At most one serves, at most one is moved to.
CREATE TABLE models (
    model_id    INTEGER PRIMARY KEY AUTOINCREMENT,  -- also names the table vec_bits_<model_id>
    identity    TEXT NOT NULL UNIQUE,
    name        TEXT NOT NULL,
    dimensions  INTEGER NOT NULL CHECK (dimensions > 0),
    role        TEXT NOT NULL CHECK (role IN ('serving', 'target')),
    centre      BLOB    -- float32 mean of its vectors; taken off before their signs are kept
) STRICT;
CREATE UNIQUE INDEX models_by_role ON models (role);

-- The truth about vectors: float32, little-endian, unit length. Part 0 is the title, 1… passages.
CREATE TABLE chunks (
    chunk_id   INTEGER PRIMARY KEY AUTOINCREMENT,   -- never used twice: the warm index goes by it
    note_id    TEXT NOT NULL REFERENCES notes (id) ON DELETE CASCADE,
    part       INTEGER NOT NULL CHECK (part >= 0),
    model_id   INTEGER NOT NULL REFERENCES models (model_id),
    start_char INTEGER NOT NULL,
    end_char   INTEGER NOT NULL,
    vector     BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX chunks_by_note ON chunks (note_id, model_id, part);
CREATE INDEX chunks_by_model ON chunks (model_id, chunk_id);

-- Texts that still have no vector. model_id NULL is the serving model, known or not yet.
CREATE TABLE pending (
    pending_id INTEGER PRIMARY KEY AUTOINCREMENT,
    note_id    TEXT NOT NULL REFERENCES notes (id) ON DELETE CASCADE,
    model_id   INTEGER REFERENCES models (model_id),
    what       TEXT NOT NULL CHECK (what IN ('title', 'passages')),
    from_char  INTEGER NOT NULL DEFAULT 0,          -- where the next window of a long text begins
    next_part  INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE UNIQUE INDEX pending_by_note ON pending (note_id, what, ifnull(model_id, 0));
CREATE INDEX pending_by_model ON pending (model_id, what, pending_id);

-- Words, folded by code before they come here. Plain tables, never contentless: only these
-- erase what is deleted.
CREATE VIRTUAL TABLE notes_fts USING fts5 (
    title, body, keywords, cjk, tokenize = "unicode61 remove_diacritics 2"
);
INSERT INTO notes_fts (notes_fts, rank) VALUES ('secure-delete', 1);
CREATE VIRTUAL TABLE notes_pieces USING fts5 (pieces, tokenize = "trigram");
INSERT INTO notes_pieces (notes_pieces, rank) VALUES ('secure-delete', 1);

-- Append-only. Never holds the text of a note.
CREATE TABLE events (
    seq          INTEGER PRIMARY KEY AUTOINCREMENT,
    at           INTEGER NOT NULL,
    actor        TEXT NOT NULL,
    channel      TEXT NOT NULL,                     -- session, where there is one
    door         TEXT NOT NULL,
    action       TEXT NOT NULL,
    note_id      TEXT,                              -- no reference: an event outlives its note
    digest       BLOB NOT NULL,                     -- keyed, of the note's content hash
    state_digest BLOB NOT NULL,                     -- keyed, of the state row that it made
    reason       TEXT NOT NULL,
    prev_hash    BLOB NOT NULL,
    hash         BLOB NOT NULL
) STRICT;
CREATE INDEX events_by_note ON events (note_id, seq);
CREATE TRIGGER events_never_change BEFORE UPDATE ON events
BEGIN SELECT raise(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_never_go BEFORE DELETE ON events
BEGIN SELECT raise(ABORT, 'events are append-only'); END;
CREATE TRIGGER events_never_repeat BEFORE INSERT ON events
WHEN EXISTS (SELECT 1 FROM events WHERE seq = NEW.seq)
BEGIN SELECT raise(ABORT, 'events are append-only'); END;

-- Replies of the last 24 hours, so that a retry is safe. Ids, states and counts, never text.
CREATE TABLE requests (
    request_id   TEXT NOT NULL PRIMARY KEY,
    method       TEXT NOT NULL,
    payload_hash BLOB NOT NULL,
    reply        BLOB NOT NULL,
    at           INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX requests_by_time ON requests (at);

-- Deleted notes whose free pages are still to be cleaned by a checkpoint.
CREATE TABLE erasures (
    note_id TEXT NOT NULL PRIMARY KEY,
    at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
