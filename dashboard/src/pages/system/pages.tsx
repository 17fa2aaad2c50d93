// The server itself: its processes, its store, its own work.
import { Fields, State, Value } from "../../parts/bits";
import { List, type Listed } from "../../parts/list";
import { Page, Shown } from "../../parts/page";
import type { Row } from "../../parts/row";
import { Time } from "../../parts/time";
import { Why } from "../../parts/why";
import { useLive } from "../../live";
import { Processes } from "../overview/pages";

function System() {
  const health = useLive<"/health">("/health");
  const processes = useLive<"/api/v1/instances">("/api/v1/instances");
  return (
    <Page title="System">
      <h2>Processes</h2>
      <Shown live={processes} draw={(list) => <Processes instances={list.items} />} />
      <h2>Store</h2>
      <Shown
        live={health}
        draw={({ version, store, background }) => (
          <>
            <Fields
              rows={[
                ["State", <State word={store.status} />],
                ["Engine", store.engine],
                ["Place", store.place],
                ["Incarnation", store.incarnation],
                ["Installation", <code>{store.installation}</code>],
                ["Frozen until", store.frozen_until && <Time at={store.frozen_until} />],
                ["Warnings", store.warnings?.join(", ")],
                ["Version", version],
              ]}
            />
            <h2>What this process does for itself</h2>
            <ul class="tasks">
              {background.map((job) => (
                <li key={job.name}><State word={job.status} /> {job.name}, {job.runs} runs, last <Time at={job.last_run_at} /></li>
              ))}
            </ul>
          </>
        )}
      />
    </Page>
  );
}

const kSettings: Listed<"/api/v1/settings"> = {
  path: "/api/v1/settings",
  whole: true,
  key: (row) => row.name,
  columns: [
    { title: "Setting", show: (row) => <code>{row.name}</code> },
    { title: "Value", show: (row) => <Value value={row.value} /> },
    { title: "From", show: (row) => row.from },
    { title: "Changed by", show: (row) => (row.shared ? "tenure config apply" : row.reloads ? "SIGHUP" : "a restart") },
    { title: "What it does", show: (row) => row.does },
  ],
  empty: { text: "There are no settings." },
};

const Settings = () => (
  <Page title="Settings">
    <p>What the process that answers runs by. <code>tenure config show</code> prints the same of a file.</p>
    <List of={kSettings} />
  </Page>
);

function ProcessPage({ id }: { id: string }) {
  return (
    <Page title={<>Process {id}</>}>
      <Why kind="instance" id={id} name={id} />
    </Page>
  );
}

export const others: Row[] = [{ path: "/instances", kind: "instance", title: "Process", part: null, scope: "ops:read", group: "Watch", one: ProcessPage }];
export const rows: Row[] = [
  { path: "/system", title: "System", part: null, scope: "ops:read", group: "Watch", key: "y", page: System },
  { path: "/settings", title: "Settings", part: null, scope: "admin", group: "Watch", key: "e", page: Settings },
];
