-- oldest program: 0.1.0
-- Jobs: schedules that write messages. See src/jobs/README.md for the invariants.

-- One row per job: what is locked by whatever decides about its times.
create table jobs (
  id               blob primary key not null,
  tenant           text not null,
  name             text not null,
  topic            text not null,
  cron             text not null,       -- '': every_ms counts
  every_ms         integer not null,     -- 0: cron counts
  zone             text not null,
  payload          text not null,       -- JSON
  headers          text not null,       -- a JSON object, or ''
  priority         integer not null,
  enabled          integer not null,     -- 0 or 1
  missed           integer not null,     -- 0 once, 1 skip, 2 all
  missed_window_ms integer not null,
  missed_cap       integer not null,
  overlap          integer not null,     -- 0 skip, 1 allow, 2 queue_one
  gap              integer not null,     -- 0 end_of_gap, 1 skip
  repeat           integer not null,     -- 0 first, 1 second, 2 both
  jitter_ms        integer not null,
  starts_ms        integer not null,     -- in; 0, here and below: none
  ends_ms          integer not null,     -- out
  watch            integer not null,     -- 0 or 1
  origin           integer not null,     -- 0 the API, 1 the configuration file
  revision         integer not null,     -- 0 only inside of the transaction that makes it
  created_ms       integer not null,
  changed_ms       integer not null,
  since_ms         integer not null,     -- no time before it fires
  next_ms          integer not null,     -- the first nominal time that is not decided
  look_ms          integer not null,     -- when somebody must look at it
  paused_ms        integer not null,
  paused_until_ms  integer not null,
  paused_reason    text not null
) strict;
create unique index jobs_by_name on jobs (tenant, name);
-- In this order they fire. A job that is not due costs nothing.
create index jobs_to_look_at on jobs (look_ms, name) where look_ms > 0;
create index jobs_watched on jobs (tenant, name) where watch = 1;

-- One row per run, whose id is its message's, and per note of times that were left out.
create table job_runs (
  id         blob primary key not null,
  job_id     blob not null,
  nominal_ms integer not null,
  kind       integer not null,  -- 0 schedule, 1 trigger, 2 backfill
  state      integer not null,  -- 0 its message is to be done, 1 waits for the run before it, 2 done, 3 dead, 4 skipped
  made_ms    integer not null,
  look_ms    integer not null,    -- of one that waits: when somebody must look whether it still has to
  ended_ms   integer not null,
  sweep_ms   integer not null,    -- from when its retention counts; 0: it is not over
  claimed_ms integer not null,    -- of the claim that ended it, as all below
  owner      text not null,
  attempts   integer not null,
  crashes    integer not null,
  output     text not null,      -- JSON, or ''
  error      text not null,
  reason     integer not null,  -- of a skipped one: 1 overlap, 2 missed
  blocker    blob,               -- the run that was in the way
  first_ms   integer not null,    -- of the times that were left out,
  number     integer not null     -- and how many
) strict;
-- A nominal time has one run. Triggers take no place among the times.
create unique index job_runs_once on job_runs (job_id, nominal_ms) where kind <> 1 and state <> 4;
create index job_runs_by_time on job_runs (job_id, nominal_ms, id);
create index job_runs_live on job_runs (job_id, nominal_ms) where state = 0;
create index job_runs_waiting on job_runs (job_id) where state = 1;
create index job_runs_to_look_at on job_runs (look_ms) where state = 1;
create index job_runs_by_age on job_runs (sweep_ms) where sweep_ms > 0;
-- What is looked for each minute and each hour among the runs of weeks.
create index job_runs_dead on job_runs (sweep_ms, job_id) where state = 3;
create index job_runs_notes on job_runs (sweep_ms) where state = 4;

