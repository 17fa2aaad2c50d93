// The server itself: what needs attention, what was done, what was used.
import { List, type Listed } from "../parts/list";
import { Fields, Id, State, Value } from "../parts/bits";
import { Page, Shown } from "../parts/page";
import { Time } from "../parts/time";
import { useLive } from "../live";
import { href } from "../location";
import { may, me } from "../session";

interface Health {
  status: string;
  version: string;
  store: { status: string; engine: string; place: string; incarnation: number; warnings?: string[]; frozen_until?: string };
  tasks: { name: string; status: string; runs: number; last_run_at: string | null; next_run_at: string | null }[];
  messages?: { ready: number; delayed: number; dead: number; unhandled: number; oldest_seconds: number };
}

const kWarnings: Record<string, string> = {
  "no-synchronous-standby": "PostgreSQL has no synchronous standby: a failover may forget what was answered.",
  frozen: "The store was restored or promoted: some names are not granted yet. `tenure admin thaw` ends it.",
  "clock-step": "The store's clock has jumped within the last hour.",
  "forgotten-commits": "A client named a fence that the store never gave. If the database was restored, run `tenure admin new-incarnation`.",
};

function attention(health: Health): string[] {
  const found = (health.store.warnings ?? []).map((word) => kWarnings[word] ?? word);
  if (health.store.status !== "ok") found.unshift("The store cannot be reached, or does not commit.");
  for (const task of health.tasks) if (task.status !== "ok") found.push(`The last run of ${task.name} failed.`);
  const messages = health.messages;
  if (messages && messages.dead > 0) found.push(`${messages.dead} messages are dead.`);
  if (messages && messages.unhandled > 0) found.push(`${messages.unhandled} topics have messages that nobody asks for.`);
  return found;
}

export function Overview() {
  const live = useLive<Health>(may("ops:read") ? "/health" : null);
  if (!may("ops:read"))
    return (
      <Page title="Overview">
        <p>The token lacks the scope ops:read, which the overview needs. The menu has what it may read.</p>
      </Page>
    );
  return (
    <Page title="Overview">
      <Shown
        live={live}
        draw={(health) => {
          const found = attention(health);
          return (
            <>
              <section class="attention" aria-label="Attention">
                {found.length === 0 ? <p><State word="ok" /> Nothing needs attention.</p> : (
                  <ul>{found.map((text) => <li key={text}><State word="failed" /> {text}</li>)}</ul>
                )}
              </section>
              {health.messages && (
                <section class="figures" aria-label="Messages">
                  {(["ready", "delayed", "dead", "unhandled"] as const).map((name) => (
                    <p key={name}><strong>{health.messages?.[name]}</strong> {name}</p>
                  ))}
                </section>
              )}
              <Fields
                rows={[
                  ["Store", `${health.store.engine}, ${health.store.place}`],
                  ["Incarnation", health.store.incarnation],
                  ["Version", health.version],
                  ["This process", me.value?.instance],
                ]}
              />
              <h2>Tenure's own tasks</h2>
              <ul class="tasks">
                {health.tasks.map((task) => (
                  <li key={task.name}>
                    <State word={task.status} /> <a href={href("/tasks")}>{task.name}</a>, {task.runs} runs, last <Time at={task.last_run_at} />
                  </li>
                ))}
              </ul>
            </>
          );
        }}
      />
    </Page>
  );
}

interface AuditEntry {
  sequence: number;
  at: string;
  person: string;
  address: string;
  act: string;
  object: string;
  detail: unknown;
  request_id: string;
}

const kAudit: Listed<AuditEntry> = {
  path: "/api/v1/audit",
  key: (row) => String(row.sequence),
  filters: [
    { name: "act", title: "Act" },
    { name: "person", title: "Person" },
    { name: "object", title: "Object" },
  ],
  columns: [
    { title: "When", show: (row) => <Time at={row.at} /> },
    { title: "Who", show: (row) => <Value value={row.person} /> },
    { title: "Act", show: (row) => <code>{row.act}</code> },
    { title: "Object", show: (row) => row.object },
    { title: "Detail", show: (row) => <Value value={row.detail} /> },
    { title: "From", show: (row) => <Value value={row.address} /> },
  ],
  empty: { text: "What operators do is on record here: breaks, redrives, pauses, ended sessions." },
};

export const Audit = () => (
  <Page title="Audit">
    <List of={kAudit} />
  </Page>
);

interface Window {
  window: number;
  windowStartUtc: string;
  windowEndUtc: string;
  sealedUtc: string | null;
  state: string;
  records: number;
  unsentRecords: number;
  refusedRecords: number;
}

const kWindows: Listed<Window> = {
  path: "/usage/windows",
  key: (row) => String(row.window),
  columns: [
    { title: "Window", show: (row) => row.window, number: true },
    { title: "State", show: (row) => <State word={row.state} /> },
    { title: "From", show: (row) => <Time at={row.windowStartUtc} /> },
    { title: "To", show: (row) => <Time at={row.windowEndUtc} /> },
    { title: "Records", show: (row) => row.records, number: true },
    { title: "Unsent", show: (row) => row.unsentRecords, number: true },
    { title: "Refused", show: (row) => row.refusedRecords, number: true },
  ],
  empty: { text: "What sessions used is told in windows. None was closed yet." },
};

export const Usage = () => (
  <Page title="Usage">
    <List of={kWindows} />
  </Page>
);

export function Account() {
  const asker = me.value;
  if (!asker) return null;
  return (
    <Page title="Account">
      <Fields
        rows={[
          ["Person", <Value value={asker.person} />],
          ["Tenant", asker.tenant],
          ["Token ends", <Time at={asker.expires_at} />],
          ["May", asker.scopes.join(", ")],
          ["Server", <Id id={asker.instance} />],
        ]}
      />
    </Page>
  );
}
