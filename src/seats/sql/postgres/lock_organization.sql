-- Locks an organisation. Parameters: $1 id
-- Lock order: organisations, before licences
select 1 from tenure.organizations where id = $1::text for no key update
