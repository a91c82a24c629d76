-- Identifies a Countersign file: the bytes "CNTS".
PRAGMA application_id = 1129206867;

-- `number` identifies a run inside this file only. Small rows that are looked up by name are clustered by
-- it: WITHOUT ROWID.

CREATE TABLE runs (
    number       INTEGER PRIMARY KEY,
    tenant       TEXT    NOT NULL,
    id           TEXT    NOT NULL,
    protocol     TEXT    NOT NULL,
    workflow     TEXT    NOT NULL,
    created_at   INTEGER NOT NULL,
    version      INTEGER NOT NULL,
    seq          INTEGER NOT NULL,
    hash         TEXT    NOT NULL,
    tail         INTEGER NOT NULL,
    status       TEXT    NOT NULL,
    phase        TEXT    NOT NULL,
    updated_at   INTEGER NOT NULL,
    summary      TEXT    NOT NULL,
    protocol_version TEXT NOT NULL,
    started_by   TEXT,
    parent       TEXT,
    title        TEXT    NOT NULL,
    asks         TEXT    NOT NULL,
    ended_at     INTEGER,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost         INTEGER NOT NULL,
    lease_worker TEXT,
    lease_epoch  INTEGER NOT NULL,
    lease_until  INTEGER NOT NULL,
    -- The next two columns are indexed: a step that does not change them must not write them.
    wake_at      INTEGER,
    working      INTEGER NOT NULL,
    -- Pending actions, in the order of their requests (see action_codec.rs). Last, because it may be long.
    actions      TEXT    NOT NULL,
    UNIQUE (tenant, id)
) STRICT;

-- Lists are sorted by the time of creation, which never changes: no step writes this index.
CREATE INDEX runs_newest ON runs (tenant, created_at, id);
-- Lists of one status or one workflow. A step that keeps the status writes neither index.
CREATE INDEX runs_status ON runs (tenant, status, created_at, id);
CREATE INDEX runs_workflow ON runs (tenant, workflow, created_at, id);
-- Lists of one starter or one parent: who started a run never changes.
CREATE INDEX runs_starter ON runs (tenant, started_by, created_at, id) WHERE started_by IS NOT NULL;
CREATE INDEX runs_children ON runs (tenant, parent, created_at, id) WHERE parent IS NOT NULL;
CREATE INDEX runs_open_children ON runs (tenant, parent, created_at, id)
    WHERE parent IS NOT NULL AND ended_at IS NULL;
CREATE INDEX runs_wake ON runs (wake_at, tenant, id) WHERE wake_at IS NOT NULL;
CREATE INDEX runs_working ON runs (tenant, id) WHERE working = 1;

-- The words that runs are found by, in the order of run lists, and all words of each run, sorted and
-- separated by spaces.
CREATE TABLE run_terms (
    tenant     TEXT    NOT NULL,
    term       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    run        TEXT    NOT NULL,
    PRIMARY KEY (tenant, term, created_at, run)
) STRICT, WITHOUT ROWID;

CREATE TABLE run_search (
    run   INTEGER PRIMARY KEY,
    terms TEXT    NOT NULL
) STRICT;

-- One row per version, in the order of writing across all runs: many concurrent runs fill the same few
-- pages. `previous` is the row of the previous version, 0 if there is none; `runs.tail` is the last row.
CREATE TABLE log (
    row      INTEGER PRIMARY KEY,
    previous INTEGER NOT NULL,
    run      INTEGER NOT NULL,
    version  INTEGER NOT NULL,
    first_seq INTEGER NOT NULL,
    last_seq  INTEGER NOT NULL,
    time     INTEGER NOT NULL,
    hash     TEXT    NOT NULL,
    body     TEXT    NOT NULL
) STRICT;

-- `entry` is the row of the version in the log, where reading an old version starts.
CREATE TABLE snapshots (
    run     INTEGER NOT NULL,
    version INTEGER NOT NULL,
    entry   INTEGER NOT NULL,
    seq     INTEGER NOT NULL,
    body    TEXT    NOT NULL,
    PRIMARY KEY (run, version)
) STRICT;

-- Open waits only.
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

-- The order of the inbox; a wait without a deadline has the largest timestamp.
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
