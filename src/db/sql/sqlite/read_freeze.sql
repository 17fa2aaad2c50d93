-- Whether names are frozen (docs/ground.md, Incarnation). Result: incarnation_ms, freeze_ms, longest_ttl_ms
select incarnation_ms, freeze_ms, longest_ttl_ms from store
