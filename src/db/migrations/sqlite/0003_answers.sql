-- oldest program: 0.1.0
-- earlier checksum: e9fe5da6a18d21cf
-- Answers that are kept for requests with an Idempotency-Key (docs/ground.md, Doing it once).
create table answers (
  name      text primary key,  -- tenant, person, route and the caller's key
  body_hash text not null,     -- of the request
  status    integer,           -- null only inside of the transaction that decides it
  body      text,
  location  text,
  kept_ms   integer not null
) strict, without rowid;
create index answers_by_age on answers (kept_ms);
