-- Layout 2: one table. The index by position keeps claimed rows, so a claim changes no indexed column (HOT, given room in the
-- page). A claim is two statements: lock and read, then mark by id; a journal row names what was handed out.
-- @schema
create sequence message_pos;
create table message (
  id uuid primary key, pos bigint not null, fence bigint not null default 0, lease_until_ms bigint not null default 0,
  worker bigint not null default 0, claimed_ms bigint not null default 0, due_ms bigint not null,
  enqueued_ms bigint not null, topic_id int not null, attempts int not null default 0, crashes int not null default 0,
  line smallint not null, priority smallint not null, payload_kind smallint not null, payload bytea not null,
  correlation text, headers text, trace text, error text
) with (fillfactor = FILLFACTOR);
create index message_by_pos on message (topic_id, line, pos) where pos > 0;
create index message_by_due on message (due_ms) where pos = 0;
create table claim (id uuid primary key, worker bigint not null, expires_ms bigint not null, items bytea not null);
alter table claim alter items set storage external;
-- @enqueue
insert into message (id, topic_id, line, pos, priority, due_ms, enqueued_ms, payload_kind, payload)
select item.id, $3, 5, nextval('message_pos'), 5, $4, $4, 0, item.payload
  from unnest($1::uuid[], $2::bytea[]) as item (id, payload)
-- @claim
select id, fence, pos, ctid as place, priority, due_ms, enqueued_ms, attempts, crashes, payload_kind, payload,
       correlation, headers, trace
  from message
 where topic_id = $1 and line = 5 and pos >= $2 and pos > 0 and lease_until_ms = 0
 order by pos
 limit $3
   for no key update skip locked
-- @mark
update message m
   set fence = item.fence, lease_until_ms = $6 + 30000, worker = $5, claimed_ms = $6
  from unnest($1::uuid[], $2::bigint[]) as item (id, fence)
 where m.id = item.id
-- @journal
insert into claim (id, worker, expires_ms, items) values ($1, $2, $3, $4)
-- @ack
delete from message m
 using unnest($1::uuid[], $2::bigint[]) with ordinality as item (id, fence, ordinal)
 where m.id = item.id and m.fence = item.fence and m.lease_until_ms > 0
returning item.ordinal
