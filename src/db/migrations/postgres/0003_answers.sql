-- oldest program: 0.1.0
-- earlier checksum: ea6c08337779497b
-- Answers that are kept for requests with an Idempotency-Key (docs/ground.md, Doing it once).
create table tenure.answers (
  name      text primary key,  -- tenant, person, route and the caller's key
  body_hash text not null,     -- of the request
  status    int,               -- null only inside of the transaction that decides it
  body      text,
  location  text,
  kept_ms   bigint not null
);
create index answers_by_age on tenure.answers (kept_ms);
