-- When the bodies of a run were removed, and the seal of its log at that time.
ALTER TABLE countersign.runs ADD COLUMN pruned_at bigint;
ALTER TABLE countersign.runs ADD COLUMN seal text COLLATE "C";
