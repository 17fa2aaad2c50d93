-- Runs whose dead messages are to be done after all. Parameters: $1 id[]. Lock order: after dead_letters and messages
update tenure.job_runs set state = 0, ended_ms = 0, sweep_ms = 0,
       started_ms = case started_ms when 0 then claimed_ms else started_ms end
 where id = any ($1::uuid[]) and state = 3
