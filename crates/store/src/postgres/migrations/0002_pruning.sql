-- When the bodies of a run were taken out, and the seal of its log as it stood then.
ALTER TABLE countersign.runs ADD COLUMN pruned_at bigint;
ALTER TABLE countersign.runs ADD COLUMN seal text COLLATE "C";
