-- What a file of Countersign is known by: the bytes "CNTS".
PRAGMA application_id = 1129206867;

-- Small rows lie by their key on disk: WITHOUT ROWID clusters a table by its primary key.
-- Tables with large bodies (events, snapshots, blobs, protocols) keep their row ids: a row of some
-- kilobytes in a clustered table takes a page of its own.

CREATE TABLE runs (
    tenant       TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    protocol     TEXT    NOT NULL,
    workflow     TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    version      INTEGER NOT NULL,
    seq          INTEGER NOT NULL,
    hash         TEXT    NOT NULL,
    status       TEXT    NOT NULL,
    phase        TEXT    NOT NULL,
    updated_at   INTEGER NOT NULL,
    summary      TEXT    NOT NULL,
    lease_worker TEXT,
    lease_epoch  INTEGER NOT NULL,
    lease_until  INTEGER NOT NULL,
    -- The next two stand in indexes: a step that does not change them must not write them.
    wake_at      INTEGER,
    working      INTEGER NOT NULL,
    PRIMARY KEY (tenant, id)
) STRICT, WITHOUT ROWID;

-- Lists go by the time of creation, which never changes: no step writes this index.
CREATE INDEX runs_newest ON runs (tenant, created_at, id);
CREATE INDEX runs_wake ON runs (wake_at, tenant, id) WHERE wake_at IS NOT NULL;
CREATE INDEX runs_working ON runs (tenant, id) WHERE working = 1;

-- One row a commit: all its events in one text (see bundle.rs), under the place of the first one.
CREATE TABLE events (
    tenant  TEXT    NOT NULL,
    run     TEXT    NOT NULL,
    seq     INTEGER NOT NULL,
    version INTEGER NOT NULL,
    body    TEXT    NOT NULL,
    PRIMARY KEY (tenant, run, seq),
    FOREIGN KEY (tenant, run) REFERENCES runs (tenant, id)
) STRICT;

CREATE TABLE snapshots (
    tenant  TEXT    NOT NULL,
    run     TEXT    NOT NULL,
    version INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    body    TEXT    NOT NULL,
    PRIMARY KEY (tenant, run, version),
    FOREIGN KEY (tenant, run) REFERENCES runs (tenant, id)
) STRICT;

-- Outstanding ones only; `version` and `position` keep the order they were asked for in.
CREATE TABLE actions (
    tenant   TEXT    NOT NULL,
    run      TEXT    NOT NULL,
    id       TEXT    NOT NULL,
    version  INTEGER NOT NULL,
    position INTEGER NOT NULL,
    kind     TEXT    NOT NULL,
    body     TEXT    NOT NULL,
    PRIMARY KEY (tenant, run, id),
    FOREIGN KEY (tenant, run) REFERENCES runs (tenant, id)
) STRICT, WITHOUT ROWID;

-- Open ones only.
CREATE TABLE waits (
    tenant    TEXT    NOT NULL,
    run       TEXT    NOT NULL,
    id        TEXT    NOT NULL,
    kind      TEXT    NOT NULL,
    opened_at INTEGER NOT NULL,
    deadline  INTEGER,
    who       TEXT,
    body      TEXT    NOT NULL,
    PRIMARY KEY (tenant, run, id),
    FOREIGN KEY (tenant, run) REFERENCES runs (tenant, id)
) STRICT, WITHOUT ROWID;

-- The inbox in its order; a wait without a deadline stands at the end of time.
CREATE INDEX waits_inbox
    ON waits (tenant, ifnull(deadline, 9223372036854775807), opened_at, run, id);

-- Idempotency keys of inputs.
CREATE TABLE keys (
    tenant  TEXT    NOT NULL,
    run     TEXT    NOT NULL,
    key     TEXT    NOT NULL,
    version INTEGER NOT NULL,
    PRIMARY KEY (tenant, run, key),
    FOREIGN KEY (tenant, run) REFERENCES runs (tenant, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE blobs (
    tenant TEXT NOT NULL,
    digest TEXT NOT NULL,
    bytes  BLOB NOT NULL,
    PRIMARY KEY (tenant, digest)
) STRICT;

CREATE TABLE protocols (
    tenant TEXT NOT NULL,
    digest TEXT NOT NULL,
    text   TEXT NOT NULL,
    PRIMARY KEY (tenant, digest)
) STRICT;
