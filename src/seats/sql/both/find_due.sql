-- Licences in which something may have lapsed, in the order of their ids. Parameters: $1 the id behind which it begins,
-- $2 now_ms, $3 how many at most
-- Result: id
-- Locks: none
select id from tenure.licenses where look_ms <= $2::bigint and id > $1::uuid order by id limit $3::bigint
