-- Layout 3: bodies, what is ready and what is claimed in a table each (the shape of Solid Queue). A claim moves narrow rows.
-- @base l2-hot-claim
-- @schema
create sequence message_pos;
create table message (
  id uuid primary key, due_ms bigint not null, enqueued_ms bigint not null, topic_id int not null,
  attempts int not null default 0, crashes int not null default 0, line smallint not null, priority smallint not null,
  payload_kind smallint not null, payload bytea not null, correlation text, headers text, trace text, error text);
create table ready (topic_id int, line smallint, pos bigint, id uuid not null, fence bigint not null,
  primary key (topic_id, line, pos));
create table claimed (id uuid primary key, fence bigint not null, lease_until_ms bigint not null,
  worker bigint not null, claimed_ms bigint not null);
create table claim (id uuid primary key, worker bigint not null, expires_ms bigint not null, items bytea not null);
alter table claim alter items set storage external;
-- @enqueue
with made as (
  insert into message (id, topic_id, line, priority, due_ms, enqueued_ms, payload_kind, payload)
  select item.id, $3, 5, 5, $4, $4, 0, item.payload from unnest($1::uuid[], $2::bytea[]) as item (id, payload))
insert into ready (topic_id, line, pos, id, fence)
select $3, 5, nextval('message_pos'), id, 0 from unnest($1::uuid[]) as item (id)
-- @claim
with taken as materialized (
  select topic_id, line, pos from ready
   where topic_id = $1 and line = 5 and pos >= $2 order by pos limit $3 for update skip locked),
gone as (
  delete from ready r using taken t where r.topic_id = t.topic_id and r.line = t.line and r.pos = t.pos
  returning r.id, r.fence, r.pos),
held as (
  insert into claimed (id, fence, lease_until_ms, worker, claimed_ms)
  select id, fence + 1, $5 + 30000, $4, $5 from gone)
select m.id, gone.fence + 1 as fence, gone.pos, m.ctid as place, m.priority, m.due_ms, m.enqueued_ms, m.attempts,
       m.crashes, m.payload_kind, m.payload, m.correlation, m.headers, m.trace
  from gone join message m on m.id = gone.id
-- @mark
-- @ack
with done as (
  delete from claimed c using unnest($1::uuid[], $2::bigint[]) with ordinality as item (id, fence, ordinal)
   where c.id = item.id and c.fence = item.fence
  returning c.id, item.ordinal)
delete from message m using done where m.id = done.id returning done.ordinal
