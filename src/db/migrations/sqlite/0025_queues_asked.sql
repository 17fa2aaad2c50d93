-- oldest program: 0.1.0
-- When somebody last asked for sessions of a queue, to the minute; 0: never. It is written by itself, so that no accept waits
-- for a queue's row.
alter table queues add column asked_ms integer not null default 0;
