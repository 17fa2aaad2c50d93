-- Makes runs, and notes of times that were left out. A nominal time that has its run gets no second one.
-- Parameters: $1 id[], $2 job_id[], $3 nominal_ms[], $4 kind[], $5 state[], $6 reason[], $7 blocker[] (nil: none),
-- $8 first_ms[], $9 number[], $10 look_ms[], $11 sweep_ms[], $12 now_ms
-- Result: id of each that was made
-- Lock order: under the locks of their jobs; new rows only
insert into tenure.job_runs (id, job_id, nominal_ms, kind, state, made_ms, look_ms, ended_ms, sweep_ms, claimed_ms, owner,
                             attempts, crashes, output, error, reason, blocker, first_ms, number)
select id, job_id, nominal_ms, kind, state, $12, look_ms, sweep_ms, sweep_ms, 0, '', 0, 0, '', '', reason,
       nullif(blocker, '00000000-0000-0000-0000-000000000000'), first_ms, number
  from unnest($1::uuid[], $2::uuid[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::uuid[], $8::bigint[],
              $9::bigint[], $10::bigint[], $11::bigint[])
       as item (id, job_id, nominal_ms, kind, state, reason, blocker, first_ms, number, look_ms, sweep_ms)
on conflict do nothing
returning id
