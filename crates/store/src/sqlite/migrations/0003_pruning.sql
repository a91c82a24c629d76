-- When the bodies of a run were taken out, and the seal of its log as it stood then.
ALTER TABLE runs ADD COLUMN pruned_at INTEGER;
ALTER TABLE runs ADD COLUMN seal TEXT;
