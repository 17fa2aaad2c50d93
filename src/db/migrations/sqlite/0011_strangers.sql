-- oldest program: 0.1.0
-- Nothing to do: what this version changes is about users' own transactions, which only PostgreSQL has.
select 1;
