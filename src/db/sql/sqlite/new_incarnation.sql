-- Commits may have been forgotten. Result: the new incarnation
-- ?1 now_ms, from when on names are frozen; ?2 freeze_ms, for how long at least; ?3 above which it must be (0: any)
update store set incarnation = max(incarnation, cast(?3 as integer)) + 1, incarnation_ms = ?1, freeze_ms = ?2 returning incarnation
