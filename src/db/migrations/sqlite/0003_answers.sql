-- oldest program: 0.1.0
-- Answers that are kept for requests with an Idempotency-Key (spec 05, Doing it once).
create table answers (
  name      text primary key,  -- tenant, person, route and the caller's key
  body_hash text not null,     -- of the request
  status    integer,           -- null only inside of the transaction that decides it
  body      text,
  location  text,
  kept_ms   integer not null
) strict, without rowid;
create index answers_by_age on answers (kept_ms);
