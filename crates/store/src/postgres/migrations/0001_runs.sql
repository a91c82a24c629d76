-- Every key begins with the tenant. COLLATE "C" compares names byte by byte, regardless of the locale of
-- the database.

-- A step updates the head row in place (HOT): no index contains a column that every step changes, and each
-- page keeps free space for new row versions.
CREATE TABLE countersign.runs (
    tenant       text   COLLATE "C" NOT NULL,
    id           text   COLLATE "C" NOT NULL,
    created_at   bigint NOT NULL,
    version      bigint NOT NULL,
    seq          bigint NOT NULL,
    updated_at   bigint NOT NULL,
    wake_at      bigint,
    lease_epoch  bigint NOT NULL,
    lease_until  bigint NOT NULL,
    lease_worker text   COLLATE "C",
    protocol     text   COLLATE "C" NOT NULL,
    workflow     text   COLLATE "C" NOT NULL,
    hash         text   COLLATE "C" NOT NULL,
    status       text   COLLATE "C" NOT NULL,
    phase        text   COLLATE "C" NOT NULL,
    summary      text   NOT NULL,
    protocol_version text COLLATE "C" NOT NULL DEFAULT '',
    started_by   text   COLLATE "C",
    parent       text   COLLATE "C",
    title        text   NOT NULL DEFAULT '',
    asks         text   NOT NULL DEFAULT '',
    ended_at     bigint,
    input_tokens  bigint NOT NULL DEFAULT 0,
    output_tokens bigint NOT NULL DEFAULT 0,
    cost         bigint NOT NULL DEFAULT 0,
    -- The version at which the run was last leased, and how many workers died at that version without
    -- releasing it. After three, no worker leases the run.
    lease_version bigint NOT NULL DEFAULT 0,
    lease_deaths  bigint NOT NULL DEFAULT 0
) WITH (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

CREATE INDEX runs_newest ON countersign.runs (tenant, created_at DESC, id DESC);
-- Lists of one status or one workflow. A step that keeps the status writes neither index.
CREATE INDEX runs_status ON countersign.runs (tenant, status, created_at DESC, id DESC);
CREATE INDEX runs_workflow ON countersign.runs (tenant, workflow, created_at DESC, id DESC);
-- Lists of one starter, and of the children of one run; neither changes. A run leaves the last index when
-- it ends.
CREATE INDEX runs_starter ON countersign.runs (tenant, started_by, created_at DESC, id DESC)
    WHERE started_by IS NOT NULL;
CREATE INDEX runs_children ON countersign.runs (tenant, parent, created_at, id) WHERE parent IS NOT NULL;
CREATE INDEX runs_open_children ON countersign.runs (tenant, parent, created_at, id)
    WHERE parent IS NOT NULL AND ended_at IS NULL;
-- Created after the previous index: while the table is small, both cost the same, and the server then uses
-- the index that was created last.
ALTER TABLE countersign.runs ADD PRIMARY KEY (tenant, id);
-- Due runs, of all tenants and of one.
CREATE INDEX runs_wake ON countersign.runs (wake_at, tenant, id) WHERE wake_at IS NOT NULL;
CREATE INDEX runs_due ON countersign.runs (tenant, wake_at, id) WHERE wake_at IS NOT NULL;
-- Leases. Written when a run is leased and released, not when a lease is renewed: no step writes this index.
CREATE INDEX runs_held ON countersign.runs (tenant, id) WHERE lease_worker IS NOT NULL;

-- Runs on which workers died; there are few.
CREATE INDEX runs_parked ON countersign.runs (tenant, id) WHERE lease_deaths >= 2;

-- The words that runs are found by, in the order of run lists, and all words of each run, sorted and
-- separated by spaces.
CREATE TABLE countersign.run_terms (
    tenant     text   COLLATE "C" NOT NULL,
    term       text   COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    run        text   COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, term, created_at, run)
) WITH (autovacuum_vacuum_scale_factor = 0.05);

CREATE TABLE countersign.run_search (
    tenant text COLLATE "C" NOT NULL,
    run    text COLLATE "C" NOT NULL,
    terms  text COLLATE "C" NOT NULL,
    PRIMARY KEY (tenant, run)
);

-- One row for each version.
CREATE TABLE countersign.log (
    tenant  text   COLLATE "C" NOT NULL,
    run     text   COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    first_seq bigint NOT NULL,
    last_seq  bigint NOT NULL,
    time    bigint NOT NULL,
    hash    text   COLLATE "C" NOT NULL,
    body    text   NOT NULL,
    PRIMARY KEY (tenant, run, version)
);

CREATE TABLE countersign.snapshots (
    tenant  text   COLLATE "C" NOT NULL,
    run     text   COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    seq     bigint NOT NULL,
    body    text   NOT NULL,
    PRIMARY KEY (tenant, run, version)
);

-- Pending actions only: the version that requested the action, and its position in that version.
CREATE TABLE countersign.actions (
    tenant  text   COLLATE "C" NOT NULL,
    run     text   COLLATE "C" NOT NULL,
    id      text   COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    position bigint NOT NULL,
    kind    text   COLLATE "C" NOT NULL,
    body    text   NOT NULL,
    PRIMARY KEY (tenant, run, id)
) WITH (autovacuum_vacuum_scale_factor = 0.05);

-- Open waits only. A wait without a deadline has the largest timestamp.
CREATE TABLE countersign.waits (
    tenant    text   COLLATE "C" NOT NULL,
    run       text   COLLATE "C" NOT NULL,
    id        text   COLLATE "C" NOT NULL,
    opened_at bigint NOT NULL,
    deadline  bigint NOT NULL,
    kind      text   COLLATE "C" NOT NULL,
    who       text   COLLATE "C",
    body      text   NOT NULL,
    PRIMARY KEY (tenant, run, id)
);

CREATE INDEX waits_inbox ON countersign.waits (tenant, deadline, opened_at, run, id);

-- Idempotency keys of inputs.
CREATE TABLE countersign.keys (
    tenant  text   COLLATE "C" NOT NULL,
    run     text   COLLATE "C" NOT NULL,
    key     text   COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    PRIMARY KEY (tenant, run, key)
);

CREATE TABLE countersign.blobs (
    tenant text  COLLATE "C" NOT NULL,
    digest text  COLLATE "C" NOT NULL,
    bytes  bytea NOT NULL,
    PRIMARY KEY (tenant, digest)
);

CREATE TABLE countersign.protocols (
    tenant text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    text   text NOT NULL,
    PRIMARY KEY (tenant, digest)
);

-- Worker processes; they belong to no tenant.
CREATE TABLE countersign.workers (
    name       text   COLLATE "C" NOT NULL PRIMARY KEY,
    host       text   NOT NULL,
    pid        bigint NOT NULL,
    version    text   NOT NULL,
    capacity   bigint NOT NULL,
    started_at bigint NOT NULL,
    seen_at    bigint NOT NULL,
    expires_at bigint NOT NULL
);

-- The second line of defence: a query that names no tenant, or another tenant than the transaction is
-- for, finds no rows, even for the owner of the tables.
DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['runs', 'log', 'snapshots', 'actions', 'waits', 'keys', 'blobs', 'protocols',
        'run_terms', 'run_search'] LOOP
        EXECUTE format('ALTER TABLE countersign.%I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE countersign.%I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format(
            -- `IS TRUE`: the policy filters rows, and must not be used to find them.
            'CREATE POLICY tenant ON countersign.%I
             USING ((tenant = current_setting(''countersign.tenant'', true)) IS TRUE)
             WITH CHECK ((tenant = current_setting(''countersign.tenant'', true)) IS TRUE)', name);
    END LOOP;
    -- The one query over all tenants: workers look for due runs and lease them.
    CREATE POLICY all_tenants ON countersign.runs
        USING (current_setting('countersign.all_tenants', true) = 'on')
        WITH CHECK (current_setting('countersign.all_tenants', true) = 'on');
END
$$;

-- Compress long texts with lz4, if the server supports it.
DO $$
BEGIN
    ALTER TABLE countersign.log ALTER COLUMN body SET COMPRESSION lz4;
    ALTER TABLE countersign.snapshots ALTER COLUMN body SET COMPRESSION lz4;
    ALTER TABLE countersign.actions ALTER COLUMN body SET COMPRESSION lz4;
    ALTER TABLE countersign.waits ALTER COLUMN body SET COMPRESSION lz4;
    ALTER TABLE countersign.protocols ALTER COLUMN text SET COMPRESSION lz4;
    ALTER TABLE countersign.blobs ALTER COLUMN bytes SET COMPRESSION lz4;
EXCEPTION
    WHEN feature_not_supported OR syntax_error THEN NULL;
END
$$;

-- Stores the commits of several runs of one tenant, each whole or not at all, and returns a verdict for
-- each: 0 stored, 1 no such run, 2 the idempotency key is in use (found: its version), 3 the lease has
-- ended (found: the run's epoch), 4 the run has another version (found: which), 5 a gap in the log
-- (found: where it ends).
--
-- Runs are sorted and unique, so that two calls lock in the same order. `term` says whether lease times
-- are durations from the server's clock, or timestamps. An id of an action or a wait that is in use
-- raises unique_violation; the call then stores nothing.
CREATE FUNCTION countersign.append_1(
    owner text, term boolean,
    runs text[], expected bigint[], firsts bigint[], lasts bigint[], times bigint[],
    hashes text[], bodies text[], keys text[],
    statuses text[], phases text[], updates bigint[], summaries text[], wakes bigint[],
    lease_workers text[], lease_epochs bigint[], lease_untils bigint[],
    protocols text[], workflows text[], creations bigint[],
    versions text[], starters text[], parents text[],
    titles text[], askings text[], ends bigint[], inputs bigint[], outputs bigint[], costs bigint[],
    terms_of int[], term_lists text[],
    snapshot_of int[], snapshots text[],
    finished_of int[], finished text[],
    action_of int[], action_ids text[], action_kinds text[], action_bodies text[],
    closed_of int[], closed text[],
    wait_of int[], wait_ids text[], wait_kinds text[], wait_openings bigint[],
    wait_deadlines bigint[], wait_whos text[], wait_bodies text[],
    blob_of int[], blob_digests text[], blob_bytes bytea[],
    OUT verdicts int[], OUT founds bigint[]
) LANGUAGE plpgsql
-- A session caches its plans, and an empty table does not stay empty: so every statement has only one
-- possible plan, row by row by the whole key. `OFFSET 0` keeps the server from reordering a join, and
-- rows that were found and locked are changed by their `ctid`.
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_material = off
SET enable_memoize = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET lock_timeout = '4s'
AS $$
#variable_conflict use_column
DECLARE
    made text[] := '{}';
    base bigint := 0;
    -- An expression is faster than a statement.
    tenant_set text := set_config('countersign.tenant', owner, true);
BEGIN
    IF term THEN
        base := (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
    END IF;

    IF array_remove(protocols, NULL) <> '{}' THEN
        WITH added AS (
            INSERT INTO countersign.runs (tenant, id, created_at, version, seq, updated_at, wake_at,
                lease_epoch, lease_until, protocol, workflow, hash, status, phase, summary,
                protocol_version, started_by, parent, title, asks, ended_at, input_tokens,
                output_tokens, cost)
            SELECT owner, a.run, a.creation, 1, a.last, a.updated, a.wake, 0, 0,
                a.protocol, a.workflow, a.hash, a.status, a.phase, a.summary,
                a.named, a.starter, a.parent_run, a.heading, a.asking, a.ending, a.input, a.output, a.price
            FROM unnest(runs, creations, lasts, updates, wakes, protocols, workflows, hashes, statuses,
                    phases, summaries, firsts, versions, starters, parents, titles, askings, ends, inputs,
                    outputs, costs)
                WITH ORDINALITY AS a (run, creation, last, updated, wake, protocol, workflow, hash,
                    status, phase, summary, first, named, starter, parent_run, heading, asking, ending,
                    input, output, price, place)
            WHERE a.protocol IS NOT NULL AND a.first = 1
            ORDER BY a.place
            ON CONFLICT DO NOTHING
            RETURNING id
        )
        SELECT coalesce(array_agg(id), '{}') INTO made FROM added;
    END IF;

    IF cardinality(made) < cardinality(runs) THEN
        PERFORM 1 FROM unnest(runs) AS a (run), LATERAL (
            SELECT 1 FROM countersign.runs r WHERE r.tenant = owner AND r.id = a.run FOR UPDATE) AS r;
    END IF;

    -- After the locks, so that this statement sees what others committed before.
    SELECT array_agg(ruled.verdict), array_agg(ruled.found) INTO verdicts, founds
    FROM (
        SELECT a.place,
            CASE
                WHEN r.id IS NULL THEN CASE WHEN a.protocol IS NULL THEN 1 ELSE 5 END
                WHEN a.run = ANY (made) THEN 0
                WHEN k.version IS NOT NULL THEN 2
                WHEN a.worker IS NOT NULL
                    AND (r.lease_worker IS DISTINCT FROM a.worker OR r.lease_epoch <> a.epoch) THEN 3
                WHEN r.version <> a.expected THEN 4
                WHEN r.seq + 1 <> a.first THEN 5
                ELSE 0
            END AS verdict,
            CASE
                WHEN r.id IS NULL THEN 0
                WHEN k.version IS NOT NULL THEN k.version
                WHEN a.worker IS NOT NULL
                    AND (r.lease_worker IS DISTINCT FROM a.worker OR r.lease_epoch <> a.epoch)
                    THEN r.lease_epoch
                WHEN r.version <> a.expected THEN r.version
                ELSE r.seq
            END AS found
        FROM unnest(runs, expected, firsts, keys, lease_workers, lease_epochs, protocols)
                WITH ORDINALITY AS a (run, expected, first, key, worker, epoch, protocol, place)
            LEFT JOIN LATERAL (SELECT * FROM countersign.runs r
                WHERE r.tenant = owner AND r.id = a.run OFFSET 0) AS r ON true
            LEFT JOIN LATERAL (SELECT k.version FROM countersign.keys k
                WHERE k.tenant = owner AND k.run = a.run AND k.key = a.key OFFSET 0) AS k ON true
        ORDER BY a.place
    ) AS ruled;

    IF NOT 0 = ANY (verdicts) THEN
        RETURN;
    END IF;

    INSERT INTO countersign.log (tenant, run, version, first_seq, last_seq, time, hash, body)
    SELECT owner, a.run, a.expected + 1, a.first, a.last, a.time, a.hash, a.body
    FROM unnest(runs, expected, firsts, lasts, times, hashes, bodies, verdicts)
        AS a (run, expected, first, last, time, hash, body, verdict)
    WHERE a.verdict = 0;

    IF snapshot_of <> '{}' THEN
        INSERT INTO countersign.snapshots (tenant, run, version, seq, body)
        SELECT owner, runs[a.at], expected[a.at] + 1, lasts[a.at], a.body
        FROM unnest(snapshot_of, snapshots) AS a (at, body) WHERE verdicts[a.at] = 0;
    END IF;
    IF finished_of <> '{}' THEN
        DELETE FROM countersign.actions WHERE ctid = ANY (ARRAY(
            SELECT t.ctid FROM unnest(finished_of, finished) AS f (at, id), LATERAL (
                SELECT t.ctid FROM countersign.actions t
                WHERE t.tenant = owner AND t.run = runs[f.at] AND t.id = f.id OFFSET 0) AS t
            WHERE verdicts[f.at] = 0));
    END IF;
    IF action_of <> '{}' THEN
        INSERT INTO countersign.actions (tenant, run, id, version, position, kind, body)
        SELECT owner, runs[a.at], a.id, expected[a.at] + 1, a.place, a.kind, a.body
        FROM unnest(action_of, action_ids, action_kinds, action_bodies)
            WITH ORDINALITY AS a (at, id, kind, body, place)
        WHERE verdicts[a.at] = 0;
    END IF;
    IF closed_of <> '{}' THEN
        DELETE FROM countersign.waits WHERE ctid = ANY (ARRAY(
            SELECT t.ctid FROM unnest(closed_of, closed) AS f (at, id), LATERAL (
                SELECT t.ctid FROM countersign.waits t
                WHERE t.tenant = owner AND t.run = runs[f.at] AND t.id = f.id OFFSET 0) AS t
            WHERE verdicts[f.at] = 0));
    END IF;
    IF wait_of <> '{}' THEN
        INSERT INTO countersign.waits (tenant, run, id, opened_at, deadline, kind, who, body)
        SELECT owner, runs[a.at], a.id, a.opening, a.deadline, a.kind, a.who, a.body
        FROM unnest(wait_of, wait_ids, wait_kinds, wait_openings, wait_deadlines, wait_whos, wait_bodies)
            AS a (at, id, kind, opening, deadline, who, body)
        WHERE verdicts[a.at] = 0;
    END IF;
    IF array_remove(keys, NULL) <> '{}' THEN
        INSERT INTO countersign.keys (tenant, run, key, version)
        SELECT owner, a.run, a.key, a.expected + 1
        FROM unnest(runs, keys, expected, verdicts) AS a (run, key, expected, verdict)
        WHERE a.verdict = 0 AND a.key IS NOT NULL;
    END IF;
    IF blob_of <> '{}' THEN
        INSERT INTO countersign.blobs (tenant, digest, bytes)
        SELECT owner, a.digest, a.bytes FROM unnest(blob_of, blob_digests, blob_bytes)
            AS a (at, digest, bytes)
        WHERE verdicts[a.at] = 0 ORDER BY a.digest
        ON CONFLICT DO NOTHING;
    END IF;

    IF terms_of <> '{}' THEN
        -- Only the words that differ are written.
        DELETE FROM countersign.run_terms WHERE ctid = ANY (ARRAY(
            SELECT t.ctid FROM unnest(terms_of, term_lists) AS a (at, list),
                LATERAL (SELECT s.terms FROM countersign.run_search s
                    WHERE s.tenant = owner AND s.run = runs[a.at] OFFSET 0) AS old,
                LATERAL (SELECT r.created_at FROM countersign.runs r
                    WHERE r.tenant = owner AND r.id = runs[a.at] OFFSET 0) AS begun,
                LATERAL (SELECT unnest(string_to_array(old.terms, ' '))
                    EXCEPT SELECT unnest(string_to_array(a.list, ' '))) AS gone (word),
                LATERAL (SELECT x.ctid FROM countersign.run_terms x
                    WHERE x.tenant = owner AND x.term = gone.word AND x.created_at = begun.created_at
                        AND x.run = runs[a.at] OFFSET 0) AS t
            WHERE verdicts[a.at] = 0));
        INSERT INTO countersign.run_terms (tenant, term, created_at, run)
        SELECT owner, new.word, begun.created_at, runs[a.at]
        FROM unnest(terms_of, term_lists) AS a (at, list),
            LATERAL (SELECT r.created_at FROM countersign.runs r
                WHERE r.tenant = owner AND r.id = runs[a.at] OFFSET 0) AS begun,
            LATERAL (SELECT unnest(string_to_array(a.list, ' '))
                EXCEPT SELECT unnest(string_to_array((SELECT s.terms FROM countersign.run_search s
                    WHERE s.tenant = owner AND s.run = runs[a.at]), ' '))) AS new (word)
        WHERE verdicts[a.at] = 0;
        INSERT INTO countersign.run_search (tenant, run, terms)
        SELECT owner, runs[a.at], a.list FROM unnest(terms_of, term_lists) AS a (at, list)
        WHERE verdicts[a.at] = 0
        ON CONFLICT (tenant, run) DO UPDATE SET terms = excluded.terms;
    END IF;

    UPDATE countersign.runs r SET version = a.expected + 1, seq = a.last, hash = a.hash,
        status = a.status, phase = a.phase, updated_at = a.updated, summary = a.summary,
        title = a.heading, asks = a.asking, ended_at = a.ending, input_tokens = a.input,
        output_tokens = a.output, cost = a.price,
        -- The run stays due since then: a step does not change it, and no index is written.
        wake_at = CASE WHEN r.wake_at <= a.time AND a.wake <= a.time THEN r.wake_at ELSE a.wake END,
        lease_until = CASE WHEN a.until IS NULL THEN r.lease_until
            ELSE greatest(r.lease_until, base + a.until) END
    FROM unnest(runs, expected, lasts, times, hashes, statuses, phases, updates, summaries, wakes,
            lease_untils, verdicts, titles, askings, ends, inputs, outputs, costs)
        AS a (run, expected, last, time, hash, status, phase, updated, summary, wake, until, verdict,
            heading, asking, ending, input, output, price),
        LATERAL (SELECT x.ctid AS place FROM countersign.runs x
            WHERE x.tenant = owner AND x.id = a.run OFFSET 0) AS found
    WHERE r.ctid = found.place AND a.verdict = 0 AND NOT a.run = ANY (made);
END
$$;

-- Leases runs that are due at `due_by` to a worker for `term` milliseconds: at most `most` runs, and at
-- most `per_tenant` of one tenant, including those that are leased already. Runs on which three workers
-- died are left out. Takes one run of each tenant in turn, starting after `last_tenant`; if
-- `only_tenants` is not empty, only of those. `clock` is the time for judging leases; if it is null, the
-- server's clock is used.
CREATE FUNCTION countersign.acquire_1(
    worker text, due_by bigint, clock bigint, term bigint, most bigint, per_tenant bigint,
    last_tenant text, only_tenants text[]
) RETURNS TABLE (tenant text, id text, epoch bigint) LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan
SET enable_seqscan = off
SET enable_bitmapscan = off
SET enable_material = off
SET enable_memoize = off
SET enable_hashjoin = off
SET enable_mergejoin = off
SET lock_timeout = '4s'
AS $$
#variable_conflict use_column
DECLARE
    -- If more runs than this are due, tenants are queried one by one, so that a tenant with many runs
    -- does not hide the others.
    glance CONSTANT bigint := 256;
    -- Runs that others are leasing are skipped, so more runs than requested are read.
    spare CONSTANT bigint := 64;
    base bigint := coalesce(clock, (extract(epoch FROM clock_timestamp()) * 1000)::bigint);
    tenants text[];
    ids text[];
    some_tenants text[];
    some_ids text[];
    tenant_at text := coalesce(last_tenant, '');
    next text;
    wrapped boolean := false;
    turn int := 0;
    room bigint;
    served bigint := 0;
BEGIN
    IF most <= 0 OR per_tenant <= 0 THEN
        RETURN;
    END IF;
    PERFORM set_config('countersign.all_tenants', 'on', true);
    PERFORM 1 FROM countersign.runs r WHERE r.wake_at <= due_by
        AND (r.lease_worker IS NULL OR r.lease_until <= base)
        AND (r.lease_version <> r.version
            OR r.lease_deaths + (r.lease_worker IS NOT NULL AND r.lease_worker <> worker)::int < 3) ORDER BY r.wake_at LIMIT 1;
    IF NOT FOUND THEN
        RETURN;
    END IF;
    -- Only one worker at a time may count the leases of a tenant.
    IF per_tenant IS NOT NULL THEN
        PERFORM pg_advisory_xact_lock(1129206868);
    END IF;

    SELECT array_agg(due.tenant ORDER BY due.wake_at, due.tenant, due.id),
            array_agg(due.id ORDER BY due.wake_at, due.tenant, due.id)
        INTO tenants, ids
    FROM (SELECT r.tenant, r.id, r.wake_at FROM countersign.runs r WHERE r.wake_at <= due_by
        AND (r.lease_worker IS NULL OR r.lease_until <= base)
        AND (r.lease_version <> r.version
            OR r.lease_deaths + (r.lease_worker IS NOT NULL AND r.lease_worker <> worker)::int < 3)
        ORDER BY r.wake_at, r.tenant, r.id LIMIT glance) AS due;

    IF only_tenants <> '{}' OR cardinality(ids) >= glance THEN
        tenants := '{}';
        ids := '{}';
        LOOP
            IF only_tenants <> '{}' THEN
                turn := turn + 1;
                EXIT WHEN turn > cardinality(only_tenants);
                tenant_at := only_tenants[turn];
            ELSE
                EXIT WHEN served >= most;
                SELECT r.tenant INTO next FROM countersign.runs r
                    WHERE r.wake_at IS NOT NULL AND r.tenant > tenant_at ORDER BY r.tenant LIMIT 1;
                IF next IS NULL THEN
                    EXIT WHEN wrapped;
                    wrapped := true;
                    tenant_at := '';
                    CONTINUE;
                END IF;
                EXIT WHEN wrapped AND next > coalesce(last_tenant, '');
                tenant_at := next;
            END IF;
            room := most + spare;
            IF per_tenant IS NOT NULL THEN
                SELECT least(room, per_tenant - count(*)) INTO room FROM countersign.runs r
                    WHERE r.tenant = tenant_at AND r.lease_worker IS NOT NULL AND r.lease_until > base;
            END IF;
            SELECT array_agg(due.tenant), array_agg(due.id) INTO some_tenants, some_ids
            FROM (SELECT r.tenant, r.id FROM countersign.runs r
                WHERE r.tenant = tenant_at AND r.wake_at <= due_by
                AND (r.lease_worker IS NULL OR r.lease_until <= base)
        AND (r.lease_version <> r.version
            OR r.lease_deaths + (r.lease_worker IS NOT NULL AND r.lease_worker <> worker)::int < 3)
                ORDER BY r.wake_at, r.id LIMIT greatest(room, 0)) AS due;
            IF some_ids IS NOT NULL THEN
                tenants := tenants || some_tenants;
                ids := ids || some_ids;
                served := served + 1;
            END IF;
        END LOOP;
    END IF;

    RETURN QUERY
    WITH numbered AS (
        SELECT c.tenant, c.id,
            row_number() OVER (PARTITION BY c.tenant ORDER BY c.position) AS round
        FROM unnest(tenants, ids) WITH ORDINALITY AS c (tenant, id, position)
    ), allowed AS (
        SELECT t.tenant, t.id, row_number() OVER (ORDER BY t.round, t.tenant <= coalesce(last_tenant, ''),
            t.tenant) AS position
        FROM numbered t
        WHERE per_tenant IS NULL OR t.round <= per_tenant - (SELECT count(*) FROM countersign.runs h
            WHERE h.tenant = t.tenant AND h.lease_worker IS NOT NULL AND h.lease_until > base)
    ), chosen AS (
        SELECT a.position, r.tenant, r.id FROM allowed a
            JOIN countersign.runs r ON r.tenant = a.tenant AND r.id = a.id
        WHERE r.wake_at <= due_by AND (r.lease_worker IS NULL OR r.lease_until <= base)
        AND (r.lease_version <> r.version
            OR r.lease_deaths + (r.lease_worker IS NOT NULL AND r.lease_worker <> worker)::int < 3)
        ORDER BY a.position LIMIT most
        FOR UPDATE OF r SKIP LOCKED
    ), leased AS (
        UPDATE countersign.runs r SET lease_worker = worker, lease_epoch = r.lease_epoch + 1,
            lease_until = base + term, lease_version = r.version,
            lease_deaths = CASE WHEN r.lease_version = r.version
                THEN r.lease_deaths + (r.lease_worker IS NOT NULL AND r.lease_worker <> worker)::int ELSE 0 END
        FROM chosen c WHERE r.tenant = c.tenant AND r.id = c.id
        RETURNING c.position, r.tenant, r.id, r.lease_epoch
    )
    SELECT t.tenant, t.id, t.lease_epoch FROM leased t ORDER BY t.position;
END
$$;
