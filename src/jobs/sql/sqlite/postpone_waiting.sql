-- ?1 id, ?2 look_ms
update job_runs set look_ms = ?2 where id = ?1
