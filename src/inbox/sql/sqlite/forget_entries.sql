-- Removes entries that nobody touched for the retention and whose claim, if one was under way, is over.
-- ?1 not touched since this ms, ?2 now_ms, ?3 how many at most. Result: tenant, fence
delete from inbox
 where rowid in (select rowid from inbox
                  where received_ms < ?1 and updated_ms < ?1 and (state <> 1 or lease_until_ms <= ?2)
                  order by received_ms limit ?3)
returning tenant, fence
