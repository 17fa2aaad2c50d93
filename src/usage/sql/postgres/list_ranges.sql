-- Where the chunks of a window begin and end: of the sessions with active time in it, by id, every first and last of
-- $4, and the very last. What a closed window contains does not change any more, so this needs no lock.
-- Two looks whose cost does not depend on the history: those that are open, those that have ended since it began. (Without
-- "offset 0" a generic plan may look for the latter by id, through the whole history.)
-- Parameters: $1 start_ms, $2 end_ms, $3 after this id, $4 sessions per chunk, $5 sessions at most
-- Result: id, position (from 1); position % $4 is 1 for the first of a chunk and 0 for the last of a full one
-- Locks: none
select id, position
  from (select id, row_number() over (order by id) as position, lead(id) over (order by id) is null as is_last
          from ((select id from tenure.sessions
                  where end_reason is null and id > $3::uuid and start_ms < $2::bigint and end_ms > $1::bigint
                    and end_ms > start_ms order by id limit $5::bigint)
                 union all
                (select id from (select id, start_ms, end_ms from tenure.sessions
                                  where end_reason is not null and end_ms > $1::bigint offset 0) as ended
                  where id > $3::uuid and start_ms < $2::bigint and end_ms > start_ms order by id limit $5::bigint)
                 order by id limit $5::bigint) as active) as numbered
 where $4::bigint = 1 or position % $4::bigint <= 1 or is_last
 order by position
