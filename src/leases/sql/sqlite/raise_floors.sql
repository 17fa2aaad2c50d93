-- Raises the floor of a tenant to the highest fence of the names that go. ?1 tenant, ?2 fence
insert into lease_floors (tenant, fence) values (?1, ?2)
on conflict (tenant) do update set fence = max(fence, excluded.fence)
