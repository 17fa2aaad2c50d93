-- Raises the floor of a tenant to the highest fence of the entries that go. ?1 tenant, ?2 fence
insert into inbox_floors (tenant, fence) values (?1, ?2)
on conflict (tenant) do update set fence = max(fence, excluded.fence)
