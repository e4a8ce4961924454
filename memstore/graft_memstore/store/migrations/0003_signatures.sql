-- Errors that notes tell of, as digests of what is the same of them on every machine.
--
-- Made by code from title and body; goes with its note. Notes that were stored before are read in
-- the background, which meta's "signatures_read" keeps track of.

CREATE TABLE note_signatures (
    digest INTEGER NOT NULL,                        -- 64 bits of a hash, signed
    seq    INTEGER NOT NULL REFERENCES notes (seq) ON DELETE CASCADE,
    traits INTEGER NOT NULL,                        -- what else is known of the error: bits
    PRIMARY KEY (digest, seq)
) STRICT, WITHOUT ROWID;
CREATE INDEX note_signatures_by_note ON note_signatures (seq);
