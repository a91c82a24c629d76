-- When the bodies of a run were removed, and the seal of its log at that time.
ALTER TABLE runs ADD COLUMN pruned_at INTEGER;
ALTER TABLE runs ADD COLUMN seal TEXT;

-- The version at which the run was last leased, and how many workers died at that version without releasing
-- it. After three, no worker leases the run.
ALTER TABLE runs ADD COLUMN lease_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN lease_deaths INTEGER NOT NULL DEFAULT 0;
CREATE INDEX runs_parked ON runs (tenant, id) WHERE lease_deaths >= 2;
