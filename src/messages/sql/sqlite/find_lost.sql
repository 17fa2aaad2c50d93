-- Whether the reaper has anything to do. ?1 now_ms, ?2 whether leases count (1) or workers only (0). Result: 1, or no row
select 1 where exists (select 1 from message_workers where expires_ms <= ?1)
            or (?2 = 1 and exists (select 1 from message_claims where look_ms <= ?1))
