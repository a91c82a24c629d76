-- Vectors of events. They are deleted with their events and never exported to another file.
CREATE TABLE vectors (
    subject  INTEGER NOT NULL REFERENCES subjects,
    embedder TEXT    NOT NULL CHECK (embedder <> ''),
    session  INTEGER NOT NULL,
    position INTEGER NOT NULL,
    body     BLOB    NOT NULL,
    PRIMARY KEY (subject, embedder, session, position),
    FOREIGN KEY (subject, session, position)
        REFERENCES events (subject, session, position) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX vectors_event ON vectors (subject, session, position);
