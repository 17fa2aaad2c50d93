-- When a hook was heard of last. ?1 source, ?2 hook, ?3 delivered_ms, ?4 pinged_ms (0: not)
insert into webhook_hooks (source, hook, delivered_ms, pinged_ms) values (?1, ?2, ?3, ?4)
on conflict (source, hook) do update
   set delivered_ms = max(delivered_ms, excluded.delivered_ms), pinged_ms = max(pinged_ms, excluded.pinged_ms)
