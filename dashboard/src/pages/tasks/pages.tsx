// Reliable tasks: what runs every so often, once over all processes.
import { List, type Listed } from "../../parts/list";
import { Fields, State, Value } from "../../parts/bits";
import { Page, Shown } from "../../parts/page";
import type { Row } from "../../parts/row";
import { Time, span } from "../../parts/time";
import { Why } from "../../parts/why";
import { enc } from "../../parts/words";
import { useLive } from "../../live";
import { href } from "../../location";

const kTasks: Listed<"/api/v1/tasks"> = {
  path: "/api/v1/tasks",
  whole: true,
  key: (row) => row.name,
  columns: [
    { title: "Task", show: (row) => <a href={href(`/tasks/${enc(row.name)}`)}>{row.name}</a> },
    { title: "State", show: (row) => <State word={row.failures > 0 ? "failed" : row.holder ? "claimed" : "ok"} /> },
    { title: "Every", show: (row) => span(row.interval_ms), number: true },
    { title: "Next", show: (row) => <Time at={row.next_run_at} /> },
    { title: "Last", show: (row) => <Time at={row.last_run_at} /> },
    { title: "Runs", show: (row) => row.runs, number: true },
    { title: "Failures", show: (row) => row.failures, number: true },
    { title: "Runs at", show: (row) => <Value value={row.holder} /> },
    { title: "Last error", show: (row) => <span class="error">{row.last_error ?? "–"}</span> },
  ],
  empty: { text: "A reliable task runs every so often, once over all processes." },
};

const Tasks = () => (
  <Page title="Tasks">
    <List of={kTasks} />
  </Page>
);

/** A task is told by the list alone, which is short. */
function TaskPage({ id }: { id: string }) {
  const live = useLive<"/api/v1/tasks">("/api/v1/tasks");
  return (
    <Page title={<>Task {id}</>}>
      <Why kind="task" id={id} name={id} />
      <Shown
        live={live}
        draw={({ items }) => {
          const task = items.find((each) => each.name === id);
          if (!task) return <p class="none">No process offers it any more.</p>;
          return (
            <Fields
              rows={[
                ["Runs every", span(task.interval_ms)],
                ["Next", task.next_run_at && <Time at={task.next_run_at} />],
                ["Last", task.last_run_at && <Time at={task.last_run_at} />],
                ["Runs", task.runs],
                ["Failures in a row", task.failures],
                ["Runs at", task.holder && <Value value={task.holder} />],
                ["Last error", task.last_error && <Value value={task.last_error} />],
              ]}
            />
          );
        }}
      />
    </Page>
  );
}

export const rows: Row[] = [
  { path: "/tasks", kind: "task", title: "Tasks", part: "tasks", scope: "ops:read", group: "Work", key: "k", page: Tasks, one: TaskPage },
];
