-- oldest program: 0.1.0
-- earlier checksum: a50f1e2051b35244
-- Reliable tasks. The lock of a task is the lease "task/<name>" of its tenant; '' is the tenant of Tenure's
-- own tasks. See src/tasks/README.md for the invariants.
create table tenure.tasks (
  tenant           text collate "C" not null,
  name             text collate "C" not null,
  interval_ms      bigint not null,
  next_ms          bigint not null,  -- the nominal time of the next run
  not_before_ms    bigint not null,  -- a failed run is not tried again before
  asked_ms         bigint not null,  -- when somebody asked for one more run while one went on; 0: nobody
  last_nominal_ms  bigint not null,  -- of the last complete run; 0: there was none
  last_started_ms  bigint not null,  -- of the last run that was handed out
  last_finished_ms bigint not null,  -- whether complete or failed
  last_error       text not null,    -- '': the last run that finished is complete
  failures         bigint not null,  -- since the last complete run
  runs             bigint not null,  -- complete ones
  skipped          bigint not null,  -- grid times that had no run of their own
  primary key (tenant, name)
) with (fillfactor = 70);
