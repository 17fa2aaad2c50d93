-- oldest program: 0.1.0
-- earlier checksum: 653c6ba359303c10
-- Reliable tasks. The lock of a task is the lease "task/<name>" of its tenant; '' is the tenant of Tenure's
-- own tasks. See src/tasks/README.md for the invariants.
create table tasks (
  tenant           text not null,
  name             text not null,
  interval_ms      integer not null,
  next_ms          integer not null,  -- the nominal time of the next run
  not_before_ms    integer not null,  -- a failed run is not tried again before
  asked_ms         integer not null,  -- when somebody asked for one more run while one went on; 0: nobody
  last_nominal_ms  integer not null,  -- of the last complete run; 0: there was none
  last_started_ms  integer not null,  -- of the last run that was handed out
  last_finished_ms integer not null,  -- whether complete or failed
  last_error       text not null,    -- '': the last run that finished is complete
  failures         integer not null,  -- since the last complete run
  runs             integer not null,  -- complete ones
  skipped          integer not null,  -- grid times that had no run of their own
  primary key (tenant, name)
) strict, without rowid;
