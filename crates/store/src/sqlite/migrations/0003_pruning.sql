-- When the bodies of a run were taken out, and the seal of its log as it stood then.
ALTER TABLE runs ADD COLUMN pruned_at INTEGER;
ALTER TABLE runs ADD COLUMN seal TEXT;

-- The version at which the run was last taken, and how many workers ended at that version without giving it
-- back. After three, nobody takes it.
ALTER TABLE runs ADD COLUMN lease_version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN lease_deaths INTEGER NOT NULL DEFAULT 0;
CREATE INDEX runs_parked ON runs (tenant, id) WHERE lease_deaths >= 2;
