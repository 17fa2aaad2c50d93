// Reliable tasks: what runs every so often, once over all processes.
import { List, type Listed } from "../../parts/list";
import { ActButton } from "../../parts/act";
import { State, Value } from "../../parts/bits";
import { Page } from "../../parts/page";
import type { Row } from "../../parts/row";
import { refresh } from "../../live";
import { Time, span } from "../../parts/time";
import { enc, quoted } from "../../parts/words";

interface Task {
  name: string;
  interval_ms: number;
  next_run_at: string | null;
  last_run_at: string | null;
  runs: number;
  failures: number;
  last_error: string | null;
  holder: string | null;
}

const kTasks: Listed<Task> = {
  path: "/api/v1/tasks",
  whole: true,
  key: (row) => row.name,
  columns: [
    { title: "Task", show: (row) => row.name },
    { title: "State", show: (row) => <State word={row.failures > 0 ? "failed" : row.holder ? "claimed" : "ok"} /> },
    { title: "Every", show: (row) => span(row.interval_ms), number: true },
    { title: "Next", show: (row) => <Time at={row.next_run_at} /> },
    { title: "Last", show: (row) => <Time at={row.last_run_at} /> },
    { title: "Runs", show: (row) => row.runs, number: true },
    { title: "Failures", show: (row) => row.failures, number: true },
    { title: "Runs at", show: (row) => <Value value={row.holder} /> },
    {
      title: "Act",
      show: (row) => (
        <ActButton
          deed={{
            title: "Run now",
            of: row.name,
            act: "task.run",
            object: row.name,
            scope: "admin",
            effect: `${row.name} runs now in one process, or once more when it runs already.`,
            send: () => ({ method: "POST", path: `/api/v1/tasks/${enc(row.name)}/run`, body: {} }),
            command: `tenure task run ${quoted(row.name)}`,
          }}
          done={() => (refresh.value += 1)}
        />
      ),
    },
    { title: "Last error", show: (row) => <span class="error">{row.last_error ?? "–"}</span> },
  ],
  empty: { text: "A reliable task runs every so often, once over all processes." },
};

const Tasks = () => (
  <Page title="Tasks">
    <List of={kTasks} />
  </Page>
);

export const rows: Row[] = [
  { path: "/tasks", kind: "task", title: "Tasks", part: "tasks", scope: "ops:read", group: "Work", key: "k", page: Tasks },
];
