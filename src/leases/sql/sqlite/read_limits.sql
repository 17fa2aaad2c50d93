-- What holds for the whole store. Result: incarnation, incarnation_ms, freeze_ms, longest_ttl_ms
select incarnation, incarnation_ms, freeze_ms, longest_ttl_ms from store
