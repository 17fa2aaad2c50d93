-- Layout 4: layout 2 without the index by id; a message is known by (topic, line, position). What the second index costs.
-- @base l2-hot-claim
-- @schema
create sequence message_pos;
create table message (
  id uuid not null, pos bigint not null, fence bigint not null default 0, lease_until_ms bigint not null default 0,
  worker bigint not null default 0, claimed_ms bigint not null default 0, due_ms bigint not null,
  enqueued_ms bigint not null, topic_id int not null, attempts int not null default 0, crashes int not null default 0,
  line smallint not null, priority smallint not null, payload_kind smallint not null, payload bytea not null,
  correlation text, headers text, trace text, error text, primary key (topic_id, line, pos)
) with (fillfactor = FILLFACTOR);
create table claim (id uuid primary key, worker bigint not null, expires_ms bigint not null, items bytea not null);
alter table claim alter items set storage external;
-- @claim
with taken as materialized (
  select ctid as place from message
   where topic_id = $1 and line = 5 and pos >= $2 and lease_until_ms = 0
   order by pos limit $3 for no key update skip locked)
update message m
   set fence = m.fence + 1, lease_until_ms = $5 + 30000, worker = $4, claimed_ms = $5
  from taken
 where m.ctid = taken.place
returning m.id, m.fence, m.pos, m.ctid as place, m.priority, m.due_ms, m.enqueued_ms, m.attempts, m.crashes,
          m.payload_kind, m.payload, m.correlation, m.headers, m.trace
-- @mark
-- @ack
delete from message m
 using (select given.fence, given.ordinal, found.place
          from unnest($3::bigint[], $2::bigint[]) with ordinality as given (pos, fence, ordinal)
         cross join lateral (select ctid as place from message
                              where topic_id = $7 and line = 5 and pos = given.pos limit 1) found) item
 where m.ctid = item.place and m.fence = item.fence and m.lease_until_ms > 0
returning item.ordinal
