-- Edges between notes, the notes that still wait for theirs, and the cosines they are judged by.

-- KEYWORD and SEMANTIC edges follow from vectors: they say the same both ways, so each is kept once,
-- from the older note to the newer, and known_from is since when both notes (and the keyword on
-- both) have been known, so that making them anew changes no history. known_to IS NULL is present.
CREATE TABLE edges (
    edge_id    INTEGER PRIMARY KEY,
    src        INTEGER NOT NULL REFERENCES notes (seq) ON DELETE CASCADE,
    dst        INTEGER NOT NULL REFERENCES notes (seq) ON DELETE CASCADE,
    kind       TEXT NOT NULL CHECK (kind IN ('KEYWORD', 'SEMANTIC', 'CONTRADICTS', 'SUPERSEDES')),
    keyword_id INTEGER REFERENCES keywords (keyword_id),
    weight     REAL NOT NULL CHECK (weight > 0.0 AND weight <= 1.0),
    known_from INTEGER NOT NULL,
    known_to   INTEGER,
    CHECK (CASE WHEN kind IN ('KEYWORD', 'SEMANTIC') THEN src < dst ELSE src <> dst END),
    CHECK ((kind = 'KEYWORD') = (keyword_id IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX edges_now ON edges (src, dst, kind, ifnull(keyword_id, 0))
    WHERE known_to IS NULL;
-- The heaviest of a note's edges come first, however many it has.
CREATE INDEX edges_by_src ON edges (src, weight DESC);
CREATE INDEX edges_by_dst ON edges (dst, weight DESC);
CREATE INDEX edges_by_keyword ON edges (keyword_id) WHERE keyword_id IS NOT NULL;

-- Notes whose title has a vector of the serving model and whose edges are still to be made.
CREATE TABLE edges_pending (
    seq   INTEGER PRIMARY KEY REFERENCES notes (seq) ON DELETE CASCADE,
    asked INTEGER NOT NULL DEFAULT 1                -- grows when it is asked for again meanwhile
) STRICT;

-- Cosines of titles drawn at random: what unrelated notes of a model look like in this profile.
CREATE TABLE background_samples (
    model_id INTEGER NOT NULL REFERENCES models (model_id) ON DELETE CASCADE,
    src      INTEGER NOT NULL REFERENCES notes (seq) ON DELETE CASCADE,
    dst      INTEGER NOT NULL REFERENCES notes (seq) ON DELETE CASCADE,
    cosine   REAL NOT NULL,
    PRIMARY KEY (model_id, src, dst),
    CHECK (src < dst)
) STRICT, WITHOUT ROWID;
CREATE INDEX background_samples_by_src ON background_samples (src);
CREATE INDEX background_samples_by_dst ON background_samples (dst);
-- Titles that there were when a model's sample was drawn, and pairs that were.
ALTER TABLE models ADD COLUMN sampled_titles INTEGER NOT NULL DEFAULT 0;
ALTER TABLE models ADD COLUMN sampled_pairs INTEGER NOT NULL DEFAULT 0;

-- Notes that were there before get their edges in the background.
INSERT INTO edges_pending (seq)
SELECT notes.seq
FROM models
JOIN chunks ON chunks.model_id = models.model_id AND chunks.part = 0
JOIN notes ON notes.id = chunks.note_id
WHERE models.role = 'serving';
