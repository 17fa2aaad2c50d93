-- A webhook of 10 KB for three bots, row by row: the delivery's key, the event, its body, and for each bot the session's next
-- number and a message.
\set issue random(1, :issues)
\set delivery random(1, 9000000000000000000)
begin;
insert into events (source, hook, delivery_id, event, action, repository_id, repository, entity_type, entity_id, sender, headers, signature)
values ('github', '42', (:delivery)::bigint::text, 'issues', 'opened', '1', 'acme/shop', 'issue', (:issue)::int::text, 'ada', '{}',
        repeat('0', 71))
returning id as event \gset
insert into deliveries (source, hook, delivery_id, event_id) values ('github', '42', (:delivery)::bigint::text, :event);
insert into payloads (event_id, body) select :event, body from bodies where issue = :issue;
insert into sessions (bot, key, next) values (1, 'github.com/r1/thread/' || :issue, 2)
on conflict (bot, key) do update set next = sessions.next + 1 returning next - 1 as sequence1 \gset
insert into messages (bot, key, sequence, event_id) values (1, 'github.com/r1/thread/' || :issue, :sequence1, :event);
insert into sessions (bot, key, next) values (2, 'github.com/r1/thread/' || :issue, 2)
on conflict (bot, key) do update set next = sessions.next + 1 returning next - 1 as sequence2 \gset
insert into messages (bot, key, sequence, event_id) values (2, 'github.com/r1/thread/' || :issue, :sequence2, :event);
insert into sessions (bot, key, next) values (3, 'github.com/r1/thread/' || :issue, 2)
on conflict (bot, key) do update set next = sessions.next + 1 returning next - 1 as sequence3 \gset
insert into messages (bot, key, sequence, event_id) values (3, 'github.com/r1/thread/' || :issue, :sequence3, :event);
commit;
