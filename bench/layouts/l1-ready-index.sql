-- Layout 1: one table with a partial index of what is ready; a claim takes the row out of it and so can never be HOT.
-- @base l2-hot-claim
-- @schema
create sequence message_pos;
create table message (
  id uuid primary key, pos bigint not null, fence bigint not null default 0, lease_until_ms bigint not null default 0,
  worker bigint not null default 0, claimed_ms bigint not null default 0, due_ms bigint not null,
  enqueued_ms bigint not null, topic_id int not null, attempts int not null default 0, crashes int not null default 0,
  line smallint not null, priority smallint not null, payload_kind smallint not null,
  claimed smallint not null default 0, payload bytea not null, correlation text, headers text, trace text, error text);
create index message_ready on message (topic_id, line, pos) where claimed = 0;
create table claim (id uuid primary key, worker bigint not null, expires_ms bigint not null, items bytea not null);
alter table claim alter items set storage external;
-- @claim
select id, fence, pos, ctid as place, priority, due_ms, enqueued_ms, attempts, crashes, payload_kind, payload,
       correlation, headers, trace
  from message
 where topic_id = $1 and line = 5 and pos >= $2 and claimed = 0
 order by pos
 limit $3
   for no key update skip locked
-- @mark
update message m
   set fence = item.fence, lease_until_ms = $6 + 30000, worker = $5, claimed_ms = $6, claimed = 1
  from unnest($1::uuid[], $2::bigint[]) as item (id, fence)
 where m.id = item.id
