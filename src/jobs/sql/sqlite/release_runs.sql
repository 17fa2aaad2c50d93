-- A run that waited waits no more. ?1 id
update job_runs set state = 0, look_ms = 0 where id = ?1 and state = 1
