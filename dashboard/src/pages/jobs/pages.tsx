// Jobs: schedules that write messages.
import { List, type Listed } from "../../parts/list";
import { Fields, State, Value } from "../../parts/bits";
import { Page, Shown } from "../../parts/page";
import type { Row } from "../../parts/row";
import { Time, exact } from "../../parts/time";
import { Why } from "../../parts/why";
import { enc } from "../../parts/words";
import { useLive } from "../../live";
import { href } from "../../location";
import type { ItemOf } from "../../types";

type Job = ItemOf<"/api/v1/jobs">;

const scheduleOf = (job: Job) => (job.cron ? `${job.cron} (${job.time_zone})` : `every ${job.every}`);
const stateOf = (job: Job) => (!job.enabled ? "disabled" : job.paused ? "paused" : "ok");

const kJobs: Listed<"/api/v1/jobs"> = {
  path: "/api/v1/jobs",
  key: (row) => row.name,
  filters: [
    { name: "topic", title: "Topic" },
    { name: "enabled", title: "Enabled", options: ["true", "false"] },
  ],
  columns: [
    { title: "Job", show: (row) => <a href={href(`/jobs/${enc(row.name)}`)}>{row.name}</a> },
    { title: "State", show: (row) => <State word={stateOf(row)} /> },
    { title: "Schedule", show: (row) => <code>{scheduleOf(row)}</code> },
    { title: "Topic", show: (row) => <a href={href(`/topics/${enc(row.topic)}`)}>{row.topic}</a> },
    { title: "Next", show: (row) => <Time at={row.next_run} /> },
    { title: "Last", show: (row) => <Time at={row.last_run} /> },
    { title: "Was", show: (row) => (row.last_status ? <State word={row.last_status} /> : "–") },
  ],
  empty: {
    text: "A job writes a message at the times that its schedule names.",
    curl: (origin) => `curl -X PUT ${origin}/api/v1/jobs/nightly -H 'Content-Type: application/json' -d '{"topic": "reports", "cron": "30 2 * * *"}'`,
    command: "tenure job put nightly --topic reports --cron '30 2 * * *'",
  },
};

const Jobs = () => (
  <Page title="Jobs">
    <List of={kJobs} />
  </Page>
);

const runsOf = (name: string): Listed<"/api/v1/jobs/{name}/runs"> => ({
  path: `/api/v1/jobs/${enc(name)}/runs`,
  key: (row) => row.run_id,
  filters: [{ name: "status", title: "Status", options: ["ready", "waiting", "claimed", "retrying", "done", "dead", "skipped"] }],
  columns: [
    { title: "For", show: (row) => <Time at={row.nominal_time} /> },
    { title: "Status", show: (row) => <State word={row.status} /> },
    { title: "Kind", show: (row) => row.kind },
    { title: "Attempts", show: (row) => row.attempts, number: true },
    { title: "Finished", show: (row) => <Time at={row.finished_at} /> },
    { title: "Run", show: (row) => (row.status === "skipped" ? "–" : <a href={href(`/messages/${row.run_id}`)}><code>{row.run_id.slice(0, 13)}…</code></a>) },
    { title: "Error", show: (row) => <span class="error">{row.error ?? "–"}</span> },
  ],
  empty: { text: "It has not run yet." },
});

function JobPage({ id }: { id: string }) {
  const live = useLive<"/api/v1/jobs/{name}">(`/api/v1/jobs/${enc(id)}`, 0.4);
  return (
    <Shown
      live={live}
      draw={(job) => (
        <Page title={<>Job {job.name}</>}>
          <Why kind="job" id={id} name={id} />
          <Fields
            rows={[
              ["Schedule", <code>{scheduleOf(job)}</code>],
              ["Topic", <a href={href(`/topics/${enc(job.topic)}`)}>{job.topic}</a>],
              ["When runs were missed", job.missed],
              ["When one is not over", job.overlap],
              ["Kept by", job.managed_by],
              ["Payload", job.payload !== null && <Value value={job.payload} />],
            ]}
          />
          <h2>Next times</h2>
          <ol class="history">
            {(job.upcoming ?? []).map((each) => (
              <li key={each.time}>{each.local_time} {each.offset} <span class="age">{exact(each.time)}</span> {each.flag && <em>{each.flag}</em>}</li>
            ))}
          </ol>
          <h2>Runs</h2>
          <List of={runsOf(id)} />
        </Page>
      )}
    />
  );
}

export const rows: Row[] = [
  { path: "/jobs", kind: "job", title: "Jobs", part: "jobs", scope: "jobs:read", group: "Work", key: "j", page: Jobs, one: JobPage },
];
