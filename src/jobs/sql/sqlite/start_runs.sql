-- Keeps when a run was begun whose message is put back, to be claimed again. ?1 id, ?2 claimed_ms
update job_runs set started_ms = ?2 where id = ?1 and started_ms = 0
