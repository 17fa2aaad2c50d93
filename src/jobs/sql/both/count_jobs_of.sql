-- How many jobs a tenant has, as far as that matters. Parameters: $1 tenant, $2 most. Result: count
select count(*) from (select 1 from tenure.jobs where tenant = $1::text limit $2::bigint) as found
