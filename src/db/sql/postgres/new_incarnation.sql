-- By hand: commits may have been forgotten (tenure admin new-incarnation). Result: the new incarnation
-- Parameters: $1 now_ms: for a while from then on nothing is granted
update tenure.store set incarnation = incarnation + 1, incarnation_ms = $1::bigint returning incarnation::text
