-- Adds free seats. ?1 license_id, ?2 the first slot, ?3 the last
with recursive numbers (number) as (select ?2 union all select number + 1 from numbers where number < ?3)
insert into seats (license_id, slot, open, lapsed_ms, person, fence, started_ms, beat_ms, expires_ms, prior_ms, revoked,
                   address, user_agent, metadata, horizon_ms, epoch)
select ?1, number, 1, 0, '', 0, 0, 0, 0, 0, 0, '', '', '', 0, 0 from numbers
