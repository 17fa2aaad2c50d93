-- Commits may have been forgotten. ?1 now_ms: for a while from then on nothing is granted. Result: the new incarnation
update store set incarnation = incarnation + 1, incarnation_ms = ?1 returning incarnation
