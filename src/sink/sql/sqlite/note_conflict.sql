-- Counts that a record came with other content than it has.
-- Parameters: ?1 session_id, ?2 window
insert into conflicts (session_id, window, times)
values (?1, ?2, 1)
on conflict (session_id, window) do update set times = times + 1
