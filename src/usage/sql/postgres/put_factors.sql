-- Sets factors from a boundary on that no closed window has passed; a later word for the same boundary counts.
-- Parameters: $1 kind[], $2 from_ms[], $3 factor[], $4 set_ms; each (kind, from_ms) once
-- Lock order: usage_factors, under the seal
insert into tenure.usage_factors (kind, from_ms, factor, set_ms)
select kind, from_ms, factor, $4::bigint from unnest($1::bigint[], $2::bigint[], $3::bigint[]) as item (kind, from_ms, factor)
on conflict (kind, from_ms) do update set factor = excluded.factor, set_ms = excluded.set_ms
