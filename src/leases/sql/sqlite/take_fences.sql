-- There are no guards in a store with one writer: every name of the batch may change its fence. ?1 tenant, ?2 name
select 1 where ?1 is not null and ?2 is not null
