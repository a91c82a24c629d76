-- Identifies a memory file: the bytes "CNTM".
PRAGMA application_id = 1129206861;

-- Owners. `number` identifies the three ids in every key below; it is never reused and never exported. The
-- owner of the facts of an agent has no user; the owner of the facts of a tenant has neither a user nor an agent.
CREATE TABLE subjects (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    tenant TEXT    NOT NULL CHECK (tenant <> ''),
    user   TEXT    NOT NULL,
    agent  TEXT    NOT NULL,
    -- The totals that ranking needs.
    events INTEGER NOT NULL DEFAULT 0,
    terms  INTEGER NOT NULL DEFAULT 0,
    UNIQUE (tenant, user, agent),
    CHECK (user = '' OR agent <> '')
) STRICT;

-- `last_position` is the last position ever assigned, even if its event was deleted.
CREATE TABLE sessions (
    subject INTEGER NOT NULL REFERENCES subjects,
    id      TEXT    NOT NULL,
    number  INTEGER NOT NULL,
    last_position INTEGER NOT NULL,
    PRIMARY KEY (subject, id),
    UNIQUE (subject, number)
) STRICT, WITHOUT ROWID;

-- `expires_at`: the last millisecond, in Unix time, at which the event is visible. `expires_with_run`: the run that
-- the event ends with. At most one of them has a value.
CREATE TABLE events (
    row      INTEGER PRIMARY KEY,
    subject  INTEGER NOT NULL REFERENCES subjects,
    session  INTEGER NOT NULL,
    position INTEGER NOT NULL,
    id       TEXT    NOT NULL,
    expires_at       INTEGER,
    expires_with_run TEXT,
    body     TEXT    NOT NULL,
    UNIQUE (subject, session, position),
    UNIQUE (subject, id)
) STRICT;
CREATE INDEX events_expiring ON events (subject, expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX events_run_end ON events (subject, expires_with_run) WHERE expires_with_run IS NOT NULL;

-- The number of events of a subject that contain a term, and the last block of its postings.
CREATE TABLE terms (
    subject INTEGER NOT NULL REFERENCES subjects,
    term    TEXT    NOT NULL,
    df      INTEGER NOT NULL,
    blocks  INTEGER NOT NULL,
    tail    BLOB    NOT NULL,
    PRIMARY KEY (subject, term)
) STRICT, WITHOUT ROWID;

-- Full blocks, in the order in which they were written.
CREATE TABLE postings (
    subject INTEGER NOT NULL REFERENCES subjects,
    term    TEXT    NOT NULL,
    block   INTEGER NOT NULL,
    body    BLOB    NOT NULL,
    PRIMARY KEY (subject, term, block)
) STRICT, WITHOUT ROWID;

-- `current` marks the latest revision. The evidence of a fact is in the next table.
CREATE TABLE facts (
    subject     INTEGER NOT NULL REFERENCES subjects,
    id          TEXT    NOT NULL,
    revision    INTEGER NOT NULL,
    current     INTEGER NOT NULL,
    in_force    INTEGER NOT NULL,
    key         TEXT    NOT NULL,
    recorded_at INTEGER NOT NULL,
    origin      TEXT    NOT NULL,
    claimed_by  INTEGER NOT NULL REFERENCES subjects,
    body        TEXT    NOT NULL,
    PRIMARY KEY (subject, id, revision)
) STRICT;
CREATE INDEX facts_current ON facts (subject, in_force, recorded_at) WHERE current = 1;
CREATE INDEX facts_key ON facts (subject, key) WHERE current = 1 AND in_force = 1;
CREATE INDEX facts_claimed_by ON facts (claimed_by);

-- `source` is the owner of the event: a fact of a tenant may cite events of several users.
CREATE TABLE fact_evidence (
    subject  INTEGER NOT NULL REFERENCES subjects,
    fact     TEXT    NOT NULL,
    revision INTEGER NOT NULL,
    piece    INTEGER NOT NULL,
    source   INTEGER NOT NULL REFERENCES subjects,
    event    TEXT    NOT NULL,
    quote    TEXT,
    PRIMARY KEY (subject, fact, revision, piece)
) STRICT;
CREATE INDEX fact_evidence_source ON fact_evidence (source);

-- `id` is the run; the revision is its `state_version`.
CREATE TABLE wm_state (
    subject  INTEGER NOT NULL REFERENCES subjects,
    id       TEXT    NOT NULL,
    revision INTEGER NOT NULL,
    current  INTEGER NOT NULL,
    ordering INTEGER NOT NULL,
    body     TEXT    NOT NULL,
    PRIMARY KEY (subject, id, revision)
) STRICT;
CREATE INDEX wm_state_current ON wm_state (subject, ordering) WHERE current = 1;

-- `id` is the session.
CREATE TABLE stm_summary (
    subject  INTEGER NOT NULL REFERENCES subjects,
    id       TEXT    NOT NULL,
    revision INTEGER NOT NULL,
    current  INTEGER NOT NULL,
    ordering INTEGER NOT NULL,
    body     TEXT    NOT NULL,
    PRIMARY KEY (subject, id, revision)
) STRICT;
CREATE INDEX stm_summary_current ON stm_summary (subject, ordering) WHERE current = 1;

CREATE TABLE episodes (
    subject  INTEGER NOT NULL REFERENCES subjects,
    id       TEXT    NOT NULL,
    revision INTEGER NOT NULL,
    current  INTEGER NOT NULL,
    ordering INTEGER NOT NULL,
    body     TEXT    NOT NULL,
    PRIMARY KEY (subject, id, revision)
) STRICT;
CREATE INDEX episodes_current ON episodes (subject, ordering) WHERE current = 1;

-- `task_digest` is the SHA-256 of the task type.
CREATE TABLE procedures (
    subject  INTEGER NOT NULL REFERENCES subjects,
    id       TEXT    NOT NULL,
    revision INTEGER NOT NULL,
    current  INTEGER NOT NULL,
    ordering INTEGER NOT NULL,
    task_digest TEXT NOT NULL,
    body     TEXT    NOT NULL,
    PRIMARY KEY (subject, id, revision)
) STRICT;
CREATE INDEX procedures_current ON procedures (subject, ordering) WHERE current = 1;
CREATE INDEX procedures_task ON procedures (subject, task_digest, ordering DESC, id) WHERE current = 1;

-- `expires_at` and `expires_with_run` as in `events`; every insight has one of them.
CREATE TABLE insights (
    subject  INTEGER NOT NULL REFERENCES subjects,
    id       TEXT    NOT NULL,
    revision INTEGER NOT NULL,
    current  INTEGER NOT NULL,
    ordering INTEGER NOT NULL,
    expires_at       INTEGER,
    expires_with_run TEXT,
    body     TEXT    NOT NULL,
    PRIMARY KEY (subject, id, revision)
) STRICT;
CREATE INDEX insights_current ON insights (subject, ordering) WHERE current = 1;
CREATE INDEX insights_expiring ON insights (subject, expires_at)
    WHERE current = 1 AND expires_at IS NOT NULL;
CREATE INDEX insights_run_end ON insights (subject, expires_with_run)
    WHERE current = 1 AND expires_with_run IS NOT NULL;

CREATE TABLE candidates (
    subject  INTEGER NOT NULL REFERENCES subjects,
    id       TEXT    NOT NULL,
    revision INTEGER NOT NULL,
    current  INTEGER NOT NULL,
    ordering INTEGER NOT NULL,
    body     TEXT    NOT NULL,
    PRIMARY KEY (subject, id, revision)
) STRICT;
CREATE INDEX candidates_current ON candidates (subject, ordering) WHERE current = 1;

CREATE TABLE context_builds (
    subject INTEGER NOT NULL REFERENCES subjects,
    id      TEXT    NOT NULL,
    body    TEXT    NOT NULL,
    PRIMARY KEY (subject, id)
) STRICT;

CREATE TABLE build_rows (
    subject  INTEGER NOT NULL,
    build    TEXT    NOT NULL,
    number   INTEGER NOT NULL,
    kind     TEXT    NOT NULL,
    id       TEXT    NOT NULL,
    revision INTEGER NOT NULL,
    selected INTEGER NOT NULL,
    score    TEXT    NOT NULL,
    PRIMARY KEY (subject, build, number),
    FOREIGN KEY (subject, build) REFERENCES context_builds (subject, id)
) STRICT, WITHOUT ROWID;
-- The builds that used a row. The id is first, because the subjects that used a shared fact are not known.
CREATE INDEX build_rows_id ON build_rows (id, subject);

-- Hashes of the scope and id of erased rows.
CREATE TABLE tombstones (
    hash      TEXT    PRIMARY KEY,
    erased_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
