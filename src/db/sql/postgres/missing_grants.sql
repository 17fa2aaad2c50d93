-- What a role lacks of the rights that users' transactions need: schema tenure, and each of its functions that runs with
-- the rights of its owner (security definer), which is what makes it one for users; those of triggers are called by nobody.
-- A grant that exists is not repeated: it would need the owner, and rewrite the catalogue at each start. Parameter: the
-- role, which exists. Result: a statement each
select format('grant usage on schema tenure to %I', $1::text)
 where not has_schema_privilege($1::text::name, 'tenure', 'usage')
union all
select format('grant execute on function %s to %I', p.oid::regprocedure, $1::text)
  from pg_proc p
 where p.pronamespace = 'tenure'::regnamespace and p.prosecdef and p.prorettype <> 'trigger'::regtype
   and not has_function_privilege($1::text::name, p.oid, 'execute')
