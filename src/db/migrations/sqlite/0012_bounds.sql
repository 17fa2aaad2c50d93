-- oldest program: 0.1.0
-- What other hands write is bounded as what comes by HTTP is, and topics that nobody uses go. (SQLite cannot add a check
-- to a table that is there: a trigger does the same.)
create trigger messages_due_ms_of_new before insert on messages
 when new.due_ms not between 0 and 253402300799999
begin
  select raise(abort, 'messages.due_ms lies between the years 1970 and 9999');
end;
create trigger messages_due_ms_of_changed before update of due_ms on messages
 when new.due_ms not between 0 and 253402300799999
begin
  select raise(abort, 'messages.due_ms lies between the years 1970 and 9999');
end;

-- A topic that nobody uses is closed (lines = 0), and deleted later, when no process remembers it any more
-- (src/messages/topics/unused_topics.hpp).
alter table topics add column idle_ms integer not null default 0;    -- when it was first seen to be empty; 0: not since it was opened
alter table topics add column closed_ms integer not null default 0;  -- when it was closed; 0: it is open
