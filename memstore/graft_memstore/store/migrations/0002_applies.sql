-- What a note applies to: packages, languages, tools and systems, each with a range of versions.

CREATE TABLE note_applies (
    note_id    TEXT NOT NULL REFERENCES notes (id) ON DELETE CASCADE,
    ecosystem  TEXT NOT NULL CHECK (ecosystem IN
        ('pypi', 'npm', 'cargo', 'go', 'gem', 'lang', 'tool', 'os')),
    name       TEXT NOT NULL,                       -- in the ecosystem's one form
    range      TEXT NOT NULL,                       -- as the ecosystem writes it; '' for any version
    known_from INTEGER NOT NULL,
    known_to   INTEGER,
    PRIMARY KEY (note_id, ecosystem, name, range, known_from)
) STRICT, WITHOUT ROWID;
