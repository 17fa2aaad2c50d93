-- Raises the floors of tenants to the highest fence of the entries that go.
-- Parameters: $1 tenant[], $2 fence[]; each tenant once
-- Lock order: after the entries that go; ascending by tenant
insert into tenure.inbox_floors as f (tenant, fence)
select tenant, fence from unnest($1::text[], $2::bigint[]) as item (tenant, fence) order by tenant collate "C"
on conflict (tenant) do update set fence = greatest(f.fence, excluded.fence)
