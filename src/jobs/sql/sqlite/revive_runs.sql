-- A run whose dead message is to be done after all. ?1 id
update job_runs set state = 0, ended_ms = 0, sweep_ms = 0,
       started_ms = case started_ms when 0 then claimed_ms else started_ms end
 where id = ?1 and state = 3
