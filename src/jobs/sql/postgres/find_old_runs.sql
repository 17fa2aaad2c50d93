-- Runs that are over for long, and notes of what was left out, which are kept for less. The last run of each job stays.
-- $1 runs of before this ms, $2 notes of before this ms, $3 limit. Result: id, 1 where it is the last of its job
-- Lock order: job_runs with SKIP LOCKED: it waits for nobody
select r.id, case when r.state <> 4 and exists (select 1 from tenure.jobs j where j.id = r.job_id)
                   and not exists (select 1 from tenure.job_runs n where n.job_id = r.job_id and n.state <> 4
                                      and (n.nominal_ms > r.nominal_ms or (n.nominal_ms = r.nominal_ms and n.id > r.id)))
                  then 1 else 0 end
  from tenure.job_runs r
 where r.id = any (array(
         (select a.id from tenure.job_runs a where a.sweep_ms > 0 and a.sweep_ms < $1::bigint order by a.sweep_ms limit $3::bigint)
         union all
         (select n.id from tenure.job_runs n where n.state = 4 and n.sweep_ms < $2::bigint order by n.sweep_ms limit $3::bigint)))
 order by r.sweep_ms limit $3::bigint
   for update of r skip locked
