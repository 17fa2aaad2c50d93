-- Licences in the order of their ids, with what the retention of their logs needs to know: when the last checkpoint was
-- written, and which is the last that is old enough to be the log's base.
-- Parameters: $1 the id behind which it begins, $2 old is what is before this ms, $3 how many at most
-- Result: id, log_base, when the base was written (null: there is no log), when the last checkpoint was (null: never), seq of
-- the last old checkpoint (null: there is none)
-- Locks: none
select l.id, l.log_base,
       (select g.at_ms from tenure.seat_log g where g.license_id = l.id and g.seq = l.log_base),
       (select max(c.at_ms) from tenure.seat_log c where c.license_id = l.id and c.kind = 'LICENSE_LOG_CHECKPOINT'),
       (select max(c.seq) from tenure.seat_log c
         where c.license_id = l.id and c.kind = 'LICENSE_LOG_CHECKPOINT' and c.at_ms < $2::bigint)
  from tenure.licenses l
 where l.id > $1::uuid
 order by l.id
 limit $3::bigint
