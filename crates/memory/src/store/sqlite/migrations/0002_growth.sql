-- Identifies the rules that built the index. If they changed, the index is rebuilt when the file is opened.
CREATE TABLE index_version (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    version TEXT    NOT NULL
) STRICT;
INSERT INTO index_version (one, version) VALUES (1, '');

-- Lists the builds of a session in order.
ALTER TABLE context_builds ADD COLUMN session TEXT NOT NULL DEFAULT '';
ALTER TABLE context_builds ADD COLUMN built_at INTEGER NOT NULL DEFAULT 0;
UPDATE context_builds SET session = json_extract(body, '$.request.scope.session'),
    built_at = json_extract(body, '$.built_at');
CREATE INDEX context_builds_session ON context_builds (subject, session, built_at);
