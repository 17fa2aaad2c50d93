-- Whether this store was ever set up. Result: 1 or 0
select (to_regclass('tenure.migrations') is not null)::int
