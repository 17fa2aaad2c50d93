-- Commits may have been forgotten. Result: the new incarnation
update store set incarnation = incarnation + 1 returning incarnation
