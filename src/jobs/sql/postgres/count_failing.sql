-- How many jobs had three dead runs in a row, among those that had a dead one lately.
-- Parameters: $1 dead since this ms. Result: count
select count(*) from (
  select 1 from (select distinct job_id from tenure.job_runs where sweep_ms > $1::bigint and state = 3) as d
   where 3 = (select count(*) from (select l.state from tenure.job_runs l
                                     where l.job_id = d.job_id and (l.state = 2 or l.state = 3)
                                     order by l.nominal_ms desc limit 3) as three
               where three.state = 3)) as failing
