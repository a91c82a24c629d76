-- Every key begins with the tenant. Names are compared byte by byte: COLLATE "C".

-- Owners. `number` identifies the user and the agent in every key below and is never reused. The owner of
-- the facts of an agent has no user; the owner of the facts of a tenant has neither a user nor an agent. `events`
-- and `terms` are the totals that ranking needs; `index_version` identifies the rules that built the index.
CREATE TABLE countersign.memory_subjects (
    tenant        text   COLLATE "C" NOT NULL CHECK (tenant <> ''),
    number        bigint GENERATED ALWAYS AS IDENTITY,
    user_id       text   COLLATE "C" NOT NULL,
    agent         text   COLLATE "C" NOT NULL,
    events        bigint NOT NULL DEFAULT 0,
    terms         bigint NOT NULL DEFAULT 0,
    index_version text   NOT NULL,
    PRIMARY KEY (tenant, user_id, agent),
    UNIQUE (tenant, number),
    CHECK (user_id = '' OR agent <> '')
) WITH (fillfactor = 70);

-- `last_position` is the last position ever assigned, even if its event was deleted.
CREATE TABLE countersign.memory_sessions (
    tenant  text   COLLATE "C" NOT NULL,
    subject bigint NOT NULL,
    id      text   COLLATE "C" NOT NULL,
    number  bigint NOT NULL,
    last_position bigint NOT NULL,
    PRIMARY KEY (tenant, subject, id),
    UNIQUE (tenant, subject, number)
) WITH (fillfactor = 70);

-- `expires_at`: the last millisecond, in Unix time, at which the event is visible. `expires_with_run`: the run that
-- the event ends with. At most one of them has a value.
CREATE TABLE countersign.memory_events (
    tenant   text   COLLATE "C" NOT NULL,
    subject  bigint NOT NULL,
    session  bigint NOT NULL,
    position bigint NOT NULL,
    id       text   COLLATE "C" NOT NULL,
    expires_at       bigint,
    expires_with_run text COLLATE "C",
    body     text   NOT NULL,
    PRIMARY KEY (tenant, subject, session, position),
    UNIQUE (tenant, subject, id)
);
CREATE INDEX memory_events_expiring ON countersign.memory_events (tenant, subject, expires_at)
    WHERE expires_at IS NOT NULL;
CREATE INDEX memory_events_run_end ON countersign.memory_events (tenant, subject, expires_with_run)
    WHERE expires_with_run IS NOT NULL;

-- The number of events of a subject that contain a term, and the last block of its postings.
CREATE TABLE countersign.memory_terms (
    tenant  text   COLLATE "C" NOT NULL,
    subject bigint NOT NULL,
    term    text   COLLATE "C" NOT NULL,
    df      bigint NOT NULL,
    blocks  bigint NOT NULL,
    tail    bytea  NOT NULL,
    PRIMARY KEY (tenant, subject, term)
) WITH (fillfactor = 70);

-- Full blocks, each under the key of its first posting.
CREATE TABLE countersign.memory_postings (
    tenant  text   COLLATE "C" NOT NULL,
    subject bigint NOT NULL,
    term    text   COLLATE "C" NOT NULL,
    block   bigint NOT NULL,
    body    bytea  NOT NULL,
    PRIMARY KEY (tenant, subject, term, block)
);

-- Vectors of events. They are deleted with their events and never exported.
CREATE TABLE countersign.memory_vectors (
    tenant   text   COLLATE "C" NOT NULL,
    subject  bigint NOT NULL,
    embedder text   COLLATE "C" NOT NULL CHECK (embedder <> ''),
    session  bigint NOT NULL,
    position bigint NOT NULL,
    body     bytea  NOT NULL,
    PRIMARY KEY (tenant, subject, embedder, session, position)
);
CREATE INDEX memory_vectors_event ON countersign.memory_vectors (tenant, subject, session, position);

-- `current` marks the latest revision. The evidence of a fact is in the next table.
CREATE TABLE countersign.memory_facts (
    tenant      text    COLLATE "C" NOT NULL,
    subject     bigint  NOT NULL,
    id          text    COLLATE "C" NOT NULL,
    revision    bigint  NOT NULL,
    current     boolean NOT NULL,
    in_force    boolean NOT NULL,
    key         text    COLLATE "C" NOT NULL,
    recorded_at bigint  NOT NULL,
    origin      text    NOT NULL,
    claimed_by  bigint  NOT NULL,
    body        text    NOT NULL,
    PRIMARY KEY (tenant, subject, id, revision)
);
CREATE INDEX memory_facts_current ON countersign.memory_facts
    (tenant, subject, in_force, recorded_at DESC, id) WHERE current;
-- A digest of the key, because a key may be longer than an index entry.
CREATE INDEX memory_facts_key ON countersign.memory_facts (tenant, subject, md5(key))
    WHERE current AND in_force;
CREATE INDEX memory_facts_claimed_by ON countersign.memory_facts (tenant, claimed_by);

-- `source` is the owner of the event: a fact of a tenant may cite events of several users. `quote` is encoded as
-- JSON, which can represent every character.
CREATE TABLE countersign.memory_fact_evidence (
    tenant   text   COLLATE "C" NOT NULL,
    subject  bigint NOT NULL,
    fact     text   COLLATE "C" NOT NULL,
    revision bigint NOT NULL,
    piece    bigint NOT NULL,
    source   bigint NOT NULL,
    event    text   COLLATE "C" NOT NULL,
    quote    text   NOT NULL,
    PRIMARY KEY (tenant, subject, fact, revision, piece)
);
CREATE INDEX memory_fact_evidence_source ON countersign.memory_fact_evidence (tenant, source);

-- Rows with revisions: working states of runs, summaries of sessions, and other rows.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['wm_state', 'stm_summary', 'episodes', 'procedures', 'insights', 'candidates'] LOOP
        EXECUTE format('CREATE TABLE countersign.%I (
            tenant   text    COLLATE "C" NOT NULL,
            subject  bigint  NOT NULL,
            id       text    COLLATE "C" NOT NULL,
            revision bigint  NOT NULL,
            current  boolean NOT NULL,
            ordering bigint  NOT NULL,
            body     text    NOT NULL,
            PRIMARY KEY (tenant, subject, id, revision)
        )', 'memory_' || name);
        EXECUTE format('CREATE INDEX %I ON countersign.%I (tenant, subject, ordering DESC, id) WHERE current',
            'memory_' || name || '_current', 'memory_' || name);
    END LOOP;
END
$$;

-- The SHA-256 of the task type.
ALTER TABLE countersign.memory_procedures ADD COLUMN task_digest text COLLATE "C" NOT NULL;
CREATE INDEX memory_procedures_task ON countersign.memory_procedures
    (tenant, subject, task_digest, ordering DESC, id) WHERE current;

-- As in `memory_events`; every insight has one of them.
ALTER TABLE countersign.memory_insights ADD COLUMN expires_at bigint,
    ADD COLUMN expires_with_run text COLLATE "C";
CREATE INDEX memory_insights_expiring ON countersign.memory_insights (tenant, subject, expires_at)
    WHERE current AND expires_at IS NOT NULL;
CREATE INDEX memory_insights_run_end ON countersign.memory_insights (tenant, subject, expires_with_run)
    WHERE current AND expires_with_run IS NOT NULL;

CREATE TABLE countersign.memory_context_builds (
    tenant   text   COLLATE "C" NOT NULL,
    subject  bigint NOT NULL,
    id       text   COLLATE "C" NOT NULL,
    session  text   COLLATE "C" NOT NULL,
    built_at bigint NOT NULL,
    body     text   NOT NULL,
    PRIMARY KEY (tenant, subject, id)
);
CREATE INDEX memory_context_builds_session ON countersign.memory_context_builds
    (tenant, subject, session, built_at, id);

CREATE TABLE countersign.memory_build_rows (
    tenant   text    COLLATE "C" NOT NULL,
    subject  bigint  NOT NULL,
    build    text    COLLATE "C" NOT NULL,
    number   bigint  NOT NULL,
    kind     text    COLLATE "C" NOT NULL,
    id       text    COLLATE "C" NOT NULL,
    revision bigint  NOT NULL,
    selected boolean NOT NULL,
    score    text    NOT NULL,
    PRIMARY KEY (tenant, subject, build, number)
);
-- The builds that used a row. The id is first, because the subjects that used a shared fact are not known.
CREATE INDEX memory_build_rows_id ON countersign.memory_build_rows (tenant, id, subject);

-- Hashes of the scope and id of erased rows. Only the tenant is stored in plain text.
CREATE TABLE countersign.memory_tombstones (
    tenant text   COLLATE "C" NOT NULL,
    hash      text   COLLATE "C" NOT NULL,
    erased_at bigint NOT NULL,
    PRIMARY KEY (tenant, hash)
);

-- The second line of defence: a query that names no tenant, or another tenant than the transaction is for, finds
-- no rows. The only exception is the audit, which reads and cannot write: it checks the owners of rows, searches
-- for erased bytes, and finds indexes that other rules built.
DO $$
DECLARE
    found record;
BEGIN
    FOR found IN SELECT relname FROM pg_class
        WHERE relnamespace = 'countersign'::regnamespace AND relkind = 'r'
            AND relname LIKE 'memory\_%' AND relname <> 'memory_migrations'
    LOOP
        EXECUTE format('ALTER TABLE countersign.%I ENABLE ROW LEVEL SECURITY', found.relname);
        EXECUTE format('ALTER TABLE countersign.%I FORCE ROW LEVEL SECURITY', found.relname);
        EXECUTE format(
            'CREATE POLICY tenant ON countersign.%I
             USING ((tenant = current_setting(''countersign.tenant'', true)) IS TRUE)
             WITH CHECK ((tenant = current_setting(''countersign.tenant'', true)) IS TRUE)', found.relname);
        EXECUTE format(
            'CREATE POLICY audit ON countersign.%I FOR SELECT
             USING (current_setting(''countersign.audit'', true) = ''on'')', found.relname);
    END LOOP;
    -- No planner statistics: they would contain samples of user texts and outlive their erasure.
    FOR found IN SELECT table_name, column_name FROM information_schema.columns
        WHERE table_schema = 'countersign' AND table_name LIKE 'memory\_%' AND data_type IN ('text', 'bytea')
            AND column_name <> 'tenant'
    LOOP
        EXECUTE format('ALTER TABLE countersign.%I ALTER COLUMN %I SET STATISTICS 0',
            found.table_name, found.column_name);
    END LOOP;
END
$$;

-- Compress long texts with lz4, if the server supports it.
DO $$
DECLARE
    found record;
BEGIN
    FOR found IN SELECT table_name FROM information_schema.columns
        WHERE table_schema = 'countersign' AND table_name LIKE 'memory\_%' AND column_name = 'body'
    LOOP
        EXECUTE format('ALTER TABLE countersign.%I ALTER COLUMN body SET COMPRESSION lz4', found.table_name);
    END LOOP;
EXCEPTION
    WHEN feature_not_supported OR syntax_error THEN NULL;
END
$$;
