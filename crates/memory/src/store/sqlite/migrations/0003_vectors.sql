-- Vectors of events. They are deleted with their events and never exported to another file.
CREATE TABLE vectors (
    subject  INTEGER NOT NULL REFERENCES subjects,
    embedder TEXT    NOT NULL CHECK (embedder <> ''),
    session  INTEGER NOT NULL,
    position INTEGER NOT NULL,
    body     BLOB    NOT NULL,
    PRIMARY KEY (subject, embedder, session, position)
) STRICT, WITHOUT ROWID;
-- The vectors of one event. No foreign key to it: `SQLite` would read all vectors of the subject for each event
-- that is deleted.
CREATE INDEX vectors_event ON vectors (subject, session, position);
