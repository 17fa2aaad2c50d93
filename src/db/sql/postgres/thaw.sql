-- By hand: names are granted again (tenure admin thaw). Result: a row when something may have been frozen
update tenure.store set incarnation_ms = 0 where incarnation_ms > 0 returning incarnation::text
