-- Whether users' transactions have a role. Parameter: its name. Result: 1 or 0; 1 or 0 for whether anybody but the
-- owner may execute one of the functions that run with the owner's rights
select (exists (select from pg_roles where rolname = $1))::int,
       (exists (select from pg_proc p, aclexplode(p.proacl) as granted
                 where p.pronamespace = 'tenure'::regnamespace and p.prosecdef
                   and granted.grantee <> p.proowner and granted.privilege_type = 'EXECUTE'))::int
