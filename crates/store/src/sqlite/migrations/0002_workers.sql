-- A run is due when its wake-up time has come, and for no other reason: an action that can be performed
-- now sets the wake-up time to now. A run that waits for a child or a person has pending actions but is not due.
UPDATE runs SET wake_at = min(updated_at, ifnull(wake_at, updated_at)) WHERE working = 1;
DROP INDEX runs_working;
ALTER TABLE runs DROP COLUMN working;

-- The due runs of one tenant; `runs_wake` shows whether any run is due.
CREATE INDEX runs_due ON runs (tenant, wake_at, id) WHERE wake_at IS NOT NULL;

-- Leases. Written when a run is leased and released, not when a lease is renewed: no step writes this index.
CREATE INDEX runs_held ON runs (tenant, id) WHERE lease_worker IS NOT NULL;

CREATE TABLE workers (
    name       TEXT    NOT NULL PRIMARY KEY,
    host       TEXT    NOT NULL,
    pid        INTEGER NOT NULL,
    version    TEXT    NOT NULL,
    capacity   INTEGER NOT NULL,
    started_at INTEGER NOT NULL,
    seen_at    INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
