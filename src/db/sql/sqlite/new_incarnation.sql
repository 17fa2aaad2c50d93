-- Commits may have been forgotten. Result: the new incarnation
-- ?1 now_ms, from when on names are frozen; ?2 freeze_ms, for how long at least
update store set incarnation = incarnation + 1, incarnation_ms = ?1, freeze_ms = ?2 returning incarnation
