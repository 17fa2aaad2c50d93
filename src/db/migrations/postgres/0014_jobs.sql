-- oldest program: 0.1.0
-- Jobs: schedules that write messages. See src/jobs/README.md for the invariants.

-- One row per job: what is locked by whatever decides about its times.
create table tenure.jobs (
  id               uuid primary key,
  tenant           text collate "C" not null,
  name             text collate "C" not null,
  topic            text collate "C" not null,
  cron             text not null,       -- '': every_ms counts
  every_ms         bigint not null,     -- 0: cron counts
  zone             text not null,
  payload          text not null,       -- JSON
  headers          text not null,       -- a JSON object, or ''
  priority         bigint not null,
  enabled          bigint not null,     -- 0 or 1
  missed           bigint not null,     -- 0 once, 1 skip, 2 all
  missed_window_ms bigint not null,
  missed_cap       bigint not null,
  overlap          bigint not null,     -- 0 skip, 1 allow, 2 queue_one
  gap              bigint not null,     -- 0 end_of_gap, 1 skip
  repeat           bigint not null,     -- 0 first, 1 second, 2 both
  jitter_ms        bigint not null,
  starts_ms        bigint not null,     -- in; 0, here and below: none
  ends_ms          bigint not null,     -- out
  watch            bigint not null,     -- 0 or 1
  origin           bigint not null,     -- 0 the API, 1 the configuration file
  revision         bigint not null,     -- 0 only inside of the transaction that makes it
  created_ms       bigint not null,
  changed_ms       bigint not null,
  since_ms         bigint not null,     -- no time before it fires
  next_ms          bigint not null,     -- the first nominal time that is not decided
  look_ms          bigint not null,     -- when somebody must look at it
  paused_ms        bigint not null,
  paused_until_ms  bigint not null,
  paused_reason    text not null
) with (fillfactor = 70);
create unique index jobs_by_name on tenure.jobs (tenant, name);
-- In this order they fire. A job that is not due costs nothing.
create index jobs_to_look_at on tenure.jobs (look_ms, name) where look_ms > 0;
create index jobs_watched on tenure.jobs (tenant, name) where watch = 1;

-- One row per run, whose id is its message's, and per note of times that were left out.
create table tenure.job_runs (
  id         uuid primary key,
  job_id     uuid not null,
  nominal_ms bigint not null,
  kind       smallint not null,  -- 0 schedule, 1 trigger, 2 backfill
  state      smallint not null,  -- 0 its message is to be done, 1 waits for the run before it, 2 done, 3 dead, 4 skipped
  made_ms    bigint not null,
  look_ms    bigint not null,    -- of one that waits: when somebody must look whether it still has to
  ended_ms   bigint not null,
  sweep_ms   bigint not null,    -- from when its retention counts; 0: it is not over
  claimed_ms bigint not null,    -- of the claim that ended it, as all below
  owner      text not null,
  attempts   bigint not null,
  crashes    bigint not null,
  output     text not null,      -- JSON, or ''
  error      text not null,
  reason     smallint not null,  -- of a skipped one: 1 overlap, 2 missed
  blocker    uuid,               -- the run that was in the way
  first_ms   bigint not null,    -- of the times that were left out,
  number     bigint not null     -- and how many
) with (fillfactor = 80);
-- A nominal time has one run. Triggers take no place among the times.
create unique index job_runs_once on tenure.job_runs (job_id, nominal_ms) where kind <> 1 and state <> 4;
create index job_runs_by_time on tenure.job_runs (job_id, nominal_ms, id);
create index job_runs_live on tenure.job_runs (job_id, nominal_ms) where state = 0;
create index job_runs_waiting on tenure.job_runs (job_id) where state = 1;
create index job_runs_to_look_at on tenure.job_runs (look_ms) where state = 1;
create index job_runs_by_age on tenure.job_runs (sweep_ms) where sweep_ms > 0;
-- What is looked for each minute and each hour among the runs of weeks.
create index job_runs_dead on tenure.job_runs (sweep_ms, job_id) where state = 3;
create index job_runs_notes on tenure.job_runs (sweep_ms) where state = 4;

-- Ends a run whose message was acknowledged in the caller's own transaction, and lets the one that waits for it go
-- (src/jobs/run_ends.hpp has the argument). It locks the run, and the one that waits with its message; no job, and
-- nothing that others wait for: whoever finds these locked passes over them.
create function tenure.end_job_run(run uuid, now_ms bigint, claimed_ms bigint, owner text, attempts bigint, crashes bigint,
                                   output text) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $body$
#variable_conflict use_column
declare
  job     uuid;
  waiting uuid;
  m       record;
begin
  update tenure.job_runs r
     set state = 2, ended_ms = end_job_run.now_ms, sweep_ms = end_job_run.now_ms, claimed_ms = end_job_run.claimed_ms,
         owner = end_job_run.owner, attempts = end_job_run.attempts, crashes = end_job_run.crashes,
         output = end_job_run.output, error = ''
   where r.id = end_job_run.run and r.state = 0
  returning r.job_id into job;
  if job is null then
    return;
  end if;
  select r.id into waiting from tenure.job_runs r join tenure.messages w on w.id = r.id
   where r.job_id = job and r.state = 1 for update of r, w skip locked;
  if waiting is null or exists (select from tenure.job_runs r where r.job_id = job and r.state = 0) then
    return;
  end if;
  update tenure.job_runs r set state = 0, look_ms = 0 where r.id = waiting;
  update tenure.messages w set pos = nextval('tenure.message_positions'), due_ms = end_job_run.now_ms
    from tenure.topics t
   where w.id = waiting and w.pos = 0 and w.fence = 0 and t.topic_id = w.topic_id
  returning t.tenant, t.name into m;
  if found then
    perform tenure.tell_waiters(m.tenant, m.name);
  end if;
end
$body$;
revoke execute on function tenure.end_job_run(uuid, bigint, bigint, text, bigint, bigint, text) from public;

-- As it was (0012), and the run of a job ends with its message.
create or replace function tenure.acknowledge(id uuid, fence bigint, output jsonb default null, tenant text default 'default')
returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $body$
#variable_conflict use_column
declare
  its_tenant constant text := tenure.tenant_of(acknowledge.tenant);
  m record;
begin
  if octet_length(acknowledge.output::text) > 65536 then
    raise exception 'the output of message % is longer than 65536 bytes', acknowledge.id
      using errcode = '22001', hint = 'Store what is large elsewhere, and its address here.';
  end if;
  perform tenure.check_depth(acknowledge.output::text);
  delete from tenure.messages d using tenure.topics t
   where d.id = acknowledge.id and d.fence = acknowledge.fence and d.lease_until_ms > 0
     and t.topic_id = d.topic_id and t.tenant = its_tenant
  returning d.topic_id, d.enqueued_ms, d.attempts, d.crashes, d.correlation_id, t.retention_ms, d.claimed_ms, d.worker,
            starts_with(d.headers, '{"tenure-job"') as is_run into m;
  if not found then
    raise exception 'fence % of message % is stale', acknowledge.fence, acknowledge.id
      using errcode = 'TN001', hint = 'The message was handed to somebody else, or is finished: roll back.';
  end if;
  if m.retention_ms > 0 then
    insert into tenure.finished_messages (id, topic_id, finished_ms, forget_ms, enqueued_ms, fence, attempts, crashes,
                                          correlation_id, output)
    select acknowledge.id, m.topic_id, now_ms, now_ms + least(m.retention_ms, 315360000000), m.enqueued_ms, acknowledge.fence, m.attempts,
           m.crashes, m.correlation_id, coalesce(acknowledge.output::text, '')
      from tenure.now_ms() as now_ms;
  end if;
  if m.is_run then
    perform tenure.end_job_run(acknowledge.id, tenure.now_ms(), m.claimed_ms,
      coalesce((select w.owner from tenure.message_workers w where w.worker = m.worker),
               (select o.owner from tenure.message_owners o where o.worker = m.worker), ''),
      m.attempts, m.crashes, coalesce(acknowledge.output::text, ''));
  end if;
end
$body$;

-- Runs a job now, in the caller's own transaction, which may stay open for minutes: it locks nothing that others need
-- and makes new rows only. The schedule is not touched, and `overlap` does not hold it back.
create function tenure.job_trigger(name text, payload jsonb default null, tenant text default 'default') returns uuid
language plpgsql volatile security definer set search_path = pg_catalog, pg_temp as $body$
#variable_conflict use_column
declare
  its_tenant constant text := tenure.tenant_of(job_trigger.tenant);
  j       tenure.jobs%rowtype;
  now_ms  constant bigint := tenure.now_ms();
  new_id  uuid;
  words   text;
begin
  select * into j from tenure.jobs r where r.tenant = its_tenant and r.name = job_trigger.name and r.revision > 0;
  if not found then
    raise exception 'there is no job "%"', job_trigger.name using errcode = 'TN003';
  end if;
  new_id := tenure.put_message(j.tenant, j.topic, convert_to(coalesce(job_trigger.payload::text, j.payload), 'UTF8'), 0,
                               null, j.priority::integer, null, null, null);
  words := '{"tenure-job":' || to_json(j.name)::text || ',"tenure-nominal-time":"'
    || to_char(to_timestamp(now_ms / 1000.0) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
    || '","tenure-run":"' || new_id || '"' || case when length(j.headers) > 2 then ',' || substr(j.headers, 2) else '}' end;
  -- Its own row, in one of the two places.
  update tenure.messages m set headers = words where m.id = new_id;
  update tenure.unsorted_messages m set headers = words where m.id = new_id;
  insert into tenure.job_runs (id, job_id, nominal_ms, kind, state, made_ms, look_ms, ended_ms, sweep_ms, claimed_ms, owner,
                               attempts, crashes, output, error, reason, blocker, first_ms, number)
  values (new_id, j.id, now_ms, 1, 0, now_ms, 0, 0, 0, 0, '', 0, 0, '', '', 0, null, 0, 0);
  return new_id;
end
$body$;
revoke execute on function tenure.job_trigger(text, jsonb, text) from public;
do $body$
begin
  if exists (select from pg_roles where rolname = 'tenure_app') then
    grant execute on function tenure.job_trigger(text, jsonb, text) to tenure_app;
  end if;
end
$body$;
