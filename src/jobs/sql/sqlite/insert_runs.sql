-- Makes a run, or a note of times that were left out. A nominal time that has its run gets no second one.
-- ?1 id, ?2 job_id, ?3 nominal_ms, ?4 kind, ?5 state, ?6 reason, ?7 blocker (nil: none), ?8 first_ms, ?9 number,
-- ?10 look_ms, ?11 sweep_ms, ?12 now_ms. Result: id, where it was made
insert into job_runs (id, job_id, nominal_ms, kind, state, made_ms, look_ms, ended_ms, sweep_ms, claimed_ms, owner, attempts,
                      crashes, output, error, reason, blocker, first_ms, number)
values (?1, ?2, ?3, ?4, ?5, ?12, ?10, ?11, ?11, 0, '', 0, 0, '', '', ?6, nullif(?7, zeroblob(16)), ?8, ?9)
on conflict do nothing
returning id
