-- Commits may have been forgotten (tenure admin new-incarnation). Result: the new incarnation
-- Parameters: $1 now_ms, from when on names are frozen; $2 freeze_ms, for how long at least;
-- $3 above which it must be (0: any)
update tenure.store set incarnation = greatest(incarnation, $3::bigint) + 1, incarnation_ms = $1::bigint, freeze_ms = $2::bigint
returning incarnation::text
