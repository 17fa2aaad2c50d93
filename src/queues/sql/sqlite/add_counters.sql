-- Adds what this transaction changed in a session. ?1 queue_id, ?2 generation, ?3 session_id, ?4 the first sequence that left,
-- ?5 the first that did not, ?6 messages, ?7 bytes that came, ?8 ready, ?9 held, ?10 parked
insert into queue_counters as c (queue_id, generation, lane, messages, bytes, ready, held, parked)
values (?1, ?2, 0, ?6,
        ?7 - (select coalesce(sum(m.bytes), 0) from queue_messages m
               where m.session_id = ?3 and m.sequence >= ?4 and m.sequence < ?5), ?8, ?9, ?10)
on conflict (queue_id, generation, lane) do update
   set messages = c.messages + excluded.messages, bytes = c.bytes + excluded.bytes, ready = c.ready + excluded.ready,
       held = c.held + excluded.held, parked = c.parked + excluded.parked
