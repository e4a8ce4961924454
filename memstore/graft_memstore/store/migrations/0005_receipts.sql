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
