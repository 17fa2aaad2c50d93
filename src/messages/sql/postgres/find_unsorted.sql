-- Messages that users' transactions have put aside (0011_strangers.sql): of those with a dedup key the first ones that
-- were sent after a given one, and one of those without, if there is any.
-- Parameters: $1 seq, $2 limit of those with a key
-- Result: seq, 1 if it has a dedup key
-- Locks: none
(select seq, 1 from tenure.unsorted_messages where dedup_key <> '' and seq > $1 order by seq limit $2)
union all
(select seq, 0 from tenure.unsorted_messages where dedup_key = '' order by seq limit 1)
