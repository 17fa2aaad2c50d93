-- Where the chunks of a window begin and end: of the sessions with active time in it, by id, every first and last of
-- ?4, and the very last. What a closed window contains does not change any more, so this needs no lock.
-- Two looks whose cost does not depend on the history: those that are open, those that have ended since it began.
-- Parameters: ?1 start_ms, ?2 end_ms, ?3 after this id, ?4 sessions per chunk, ?5 sessions at most
-- Result: id, position (from 1); position % ?4 is 1 for the first of a chunk and 0 for the last of a full one
-- Locks: none
select id, position
  from (select id, row_number() over (order by id) as position, lead(id) over (order by id) is null as is_last
          from (select id from (select id from sessions indexed by sessions_open
                  where end_reason is null and id > ?3 and start_ms < ?2 and end_ms > ?1
                    and end_ms > start_ms order by id limit ?5)
                 union all
                select id from (select id from sessions indexed by sessions_ended
                  where end_reason is not null and end_ms > ?1 and id > ?3 and start_ms < ?2
                    and end_ms > start_ms order by id limit ?5)
                 order by id limit ?5) as active) as numbered
 where ?4 = 1 or position % ?4 <= 1 or is_last
 order by position
