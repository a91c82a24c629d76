-- A run is due when its time to wake has come, and for no other reason: what is ordered and can be done
-- at once wakes at once. Runs that wait for a child or a person have orders out, and nothing to do.
UPDATE runs SET wake_at = min(updated_at, ifnull(wake_at, updated_at)) WHERE working = 1;
DROP INDEX runs_working;
ALTER TABLE runs DROP COLUMN working;

-- What is due, a tenant at a time; `runs_wake` tells whether anything is.
CREATE INDEX runs_due ON runs (tenant, wake_at, id) WHERE wake_at IS NOT NULL;

-- Who holds what. Taken and given back, not renewed: no step writes this index.
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
