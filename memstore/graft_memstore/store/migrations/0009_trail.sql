-- What an event seals besides its own row. NULL in rows_digest: an earlier version wrote it.

ALTER TABLE events ADD COLUMN rows_digest BLOB;             -- keyed, of what the note then had
ALTER TABLE events ADD COLUMN tombstones BLOB;              -- keyed, of rejections made or lifted
ALTER TABLE events ADD COLUMN count INTEGER NOT NULL DEFAULT 1; -- how often it happened

-- An event is written last, after the rows that name it. Whether any of them waited for it is then
-- looked up, which without these would be a walk over all of them.
CREATE INDEX note_states_by_event ON note_states (event_id);
CREATE INDEX review_items_by_event ON review_items (event_id) WHERE event_id IS NOT NULL;
CREATE INDEX review_items_by_decision ON review_items (decided_by) WHERE decided_by IS NOT NULL;
CREATE INDEX tombstones_by_lifting ON tombstones (lifted_by) WHERE lifted_by IS NOT NULL;
