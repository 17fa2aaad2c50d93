-- Claims the name of an idempotent request. Parameters: ?1 name, ?2 body_hash, ?3 now_ms
-- Result: name, when it was claimed here
insert into answers (name, body_hash, kept_ms) values (?1, ?2, ?3)
on conflict (name) do nothing
returning name
