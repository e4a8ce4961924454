-- Which sessions were given which notes, and what they are still to be told of these.
--
-- Rings: the oldest rows go when there are too many. A note that was erased stays named here by its
-- id, so that whoever was given it hears of that.

CREATE TABLE given_notes (
    given_id INTEGER PRIMARY KEY AUTOINCREMENT,
    session  TEXT NOT NULL,
    note_id  TEXT NOT NULL,
    at       INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX given_notes_by_note ON given_notes (note_id, session);

CREATE TABLE notices (
    notice_id INTEGER PRIMARY KEY AUTOINCREMENT,    -- never used twice: what was told goes by it
    session   TEXT NOT NULL,
    note_id   TEXT NOT NULL,
    happened  TEXT NOT NULL CHECK (happened IN
        ('superseded', 'retired', 'rejected', 'disputed', 'deleted')),
    event_id  INTEGER NOT NULL,
    at        INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX notices_by_session ON notices (session, note_id);
CREATE INDEX notices_by_note ON notices (note_id);
CREATE INDEX notices_by_event ON notices (event_id, session);
