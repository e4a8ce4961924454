-- What upkeep looks for in the background, and when edges were made.

-- The few present states that end by themselves, or that were put aside.
CREATE INDEX note_states_expiring ON note_states (expires_at)
    WHERE known_to IS NULL AND lifecycle = 'active' AND expires_at IS NOT NULL;
CREATE INDEX note_states_retired ON note_states (known_from)
    WHERE known_to IS NULL AND lifecycle = 'retired';

-- What upkeep did and what was decided of what it found.
CREATE INDEX events_of_upkeep ON events (seq)
    WHERE action IN ('resolve', 'expire', 'merge-keyword', 'merge-note', 'purge');

-- Which rebuilding made an edge: those of an earlier one go when it is done.
ALTER TABLE edges ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
CREATE INDEX edges_by_generation ON edges (generation)
    WHERE kind IN ('KEYWORD', 'SEMANTIC');
