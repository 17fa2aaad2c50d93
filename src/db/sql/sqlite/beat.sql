-- A process is there, and its writes are committed. ?1 process, ?2 now_ms
insert into processes (process, seen_ms) values (?1, ?2)
on conflict (process) do update set seen_ms = excluded.seen_ms
