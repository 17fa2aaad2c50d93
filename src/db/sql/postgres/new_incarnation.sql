-- By hand: commits may have been forgotten (tenure admin new-incarnation). Result: the new incarnation
update tenure.store set incarnation = incarnation + 1 returning incarnation::text
