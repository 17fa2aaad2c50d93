// What is to be done: topics, messages, dead letters, tasks.
import { List, type Listed } from "../parts/list";
import { ActButton } from "../parts/act";
import { Command, Fields, Id, State, Value } from "../parts/bits";
import { Page, Shown } from "../parts/page";
import { Time, span } from "../parts/time";
import { useLive } from "../live";
import { href } from "../location";
import type { ComponentChildren } from "preact";

const enc = encodeURIComponent;

interface Topic {
  name: string;
  ready: number;
  claimed: number;
  dead: number;
  oldest_age_ms: number | null;
  asked_at: string | null;
  paused: boolean;
  paused_at: string | null;
  paused_reason: string | null;
  settings: Record<string, number>;
}

const kTopics: Listed<Topic> = {
  path: "/api/v1/topics",
  key: (row) => row.name,
  columns: [
    { title: "Topic", show: (row) => <a href={href(`/topics/${enc(row.name)}`)}>{row.name}</a> },
    { title: "State", show: (row) => (row.paused ? <State word="paused" /> : <State word="ok" />) },
    { title: "Ready", show: (row) => row.ready, number: true },
    { title: "Claimed", show: (row) => row.claimed, number: true },
    { title: "Dead", show: (row) => (row.dead > 0 ? <a href={href(`/dead-letters?topic=${enc(row.name)}`)}>{row.dead}</a> : 0), number: true },
    { title: "Oldest", show: (row) => (row.oldest_age_ms === null ? "–" : span(row.oldest_age_ms)), number: true },
    { title: "Asked for", show: (row) => <Time at={row.asked_at} /> },
  ],
  empty: {
    text: "A message is work that somebody must do once; its topic says what it is about.",
    curl: (origin) =>
      `curl -X POST ${origin}/api/v1/messages -H 'Content-Type: application/json' -d '{"topic": "mail", "payload": {"to": "ann@example.com"}}'`,
    command: `tenure message enqueue mail --payload '{"to": "ann@example.com"}'`,
  },
};

export const Topics = () => (
  <Page title="Topics">
    <List of={kTopics} />
  </Page>
);

export function TopicPage({ id }: { id: string }) {
  const live = useLive<Topic>(`/api/v1/topics/${enc(id)}`, 0.4);
  return (
    <Shown
      live={live}
      draw={(topic) => (
        <Page
          title={<>Topic {topic.name}</>}
          acts={
            <ActButton
              key={String(topic.paused)}
              done={live.again}
              deed={
                topic.paused
                  ? {
                      title: "Resume",
                      scope: "messages:write",
                      effect: `${topic.ready} messages are ready; workers that ask get them from now on.`,
                      takesKey: true,
                      send: () => ({ method: "PATCH", path: `/api/v1/topics/${enc(topic.name)}`, body: { paused: false } }),
                      command: `tenure topic resume ${topic.name}`,
                    }
                  : {
                      title: "Pause",
                      scope: "messages:write",
                      effect: "Messages are still taken and kept, but handed out to nobody. What is in somebody's hands may be finished.",
                      asksReason: true,
                      takesKey: true,
                      send: (reason) => ({
                        method: "PATCH",
                        path: `/api/v1/topics/${enc(topic.name)}`,
                        body: { paused: true, reason },
                      }),
                      command: `tenure topic pause ${topic.name} --reason …`,
                    }
              }
            />
          }
        >
          <Fields
            rows={[
              ["State", <State word={topic.paused ? "paused" : "ok"} />],
              ...(topic.paused
                ? ([
                    ["Paused since", <Time at={topic.paused_at} />],
                    ["Because", <Value value={topic.paused_reason} />],
                  ] as [string, ComponentChildren][])
                : []),
              ["Ready", topic.ready],
              ["Claimed", topic.claimed],
              ["Dead", <a href={href(`/dead-letters?topic=${enc(topic.name)}`)}>{topic.dead}</a>],
              ["Oldest", topic.oldest_age_ms === null ? "–" : span(topic.oldest_age_ms)],
              ["Last asked for", <Time at={topic.asked_at} />],
            ]}
          />
          <Command line={`tenure why topic ${topic.name}`} />
          <h2>Settings</h2>
          <Fields rows={Object.entries(topic.settings).map(([name, value]) => [name, name.endsWith("_ms") ? span(value) : value])} />
        </Page>
      )}
    />
  );
}

interface DeadLetter {
  id: string;
  topic: string;
  reason: string;
  attempts: number;
  crashes: number;
  died_at: string;
  last_error: string | null;
}

const kDeadLetters: Listed<DeadLetter> = {
  path: "/api/v1/dead-letters",
  key: (row) => row.id,
  filters: [
    { name: "topic", title: "Topic" },
    { name: "reason", title: "Reason", options: ["failed", "attempts", "crashes"] },
  ],
  columns: [
    { title: "Message", show: (row) => <a href={href(`/messages/${row.id}`)}><code>{row.id.slice(0, 13)}…</code></a> },
    { title: "Topic", show: (row) => row.topic },
    { title: "Reason", show: (row) => row.reason },
    { title: "Attempts", show: (row) => row.attempts, number: true },
    { title: "Died", show: (row) => <Time at={row.died_at} /> },
    { title: "Last error", show: (row) => <span class="error">{row.last_error ?? "–"}</span> },
  ],
  empty: { text: "A dead letter is a message that failed as often as it may, or for good. There is none." },
};

export const DeadLetters = () => (
  <Page title="Dead letters">
    <List of={kDeadLetters} />
  </Page>
);

interface Message {
  id: string;
  state: string;
  why: string;
  topic: string;
  priority: number;
  payload?: unknown;
  payload_base64?: string;
  fence: number;
  attempts: number;
  crashes: number;
  enqueued_at: string;
  due_at: string | null;
  owner: string | null;
  claimed_at: string | null;
  lease_expires_at: string | null;
  died_at: string | null;
  finished_at: string | null;
  last_error: string | null;
  correlation_id: string | null;
  headers: unknown;
}

export function MessagePage({ id }: { id: string }) {
  const live = useLive<Message>(`/api/v1/messages/${enc(id)}`, 0.4);
  const letters = (message: Message) => ({ topic: message.topic, ids: [message.id] });
  return (
    <Shown
      live={live}
      draw={(message) => (
        <Page
          title={<>Message <Id id={message.id} /></>}
          acts={
            message.state === "dead" && (
              <>
                <ActButton
                  done={live.again}
                  deed={{
                    title: "Redrive",
                    scope: "messages:write",
                    effect: "It becomes ready now, with all of its attempts.",
                    takesKey: true,
                    send: () => ({ method: "POST", path: "/api/v1/dead-letters/redrive", body: letters(message) }),
                    command: `tenure message redrive ${message.id}`,
                  }}
                />
                <ActButton
                  done={live.again}
                  deed={{
                    title: "Discard",
                    scope: "messages:write",
                    effect: "It is gone for good, with its payload.",
                    takesKey: true,
                    typed: message.id.slice(0, 8),
                    send: () => ({ method: "POST", path: "/api/v1/dead-letters/discard", body: letters(message) }),
                    command: `tenure message discard ${message.id}`,
                  }}
                />
              </>
            )
          }
        >
          <section class="why" aria-label="Why">
            <State word={message.state} /> <p>{message.why}</p>
          </section>
          <Command line={`tenure why message ${message.id}`} />
          <Fields
            rows={[
              ["Topic", <a href={href(`/topics/${enc(message.topic)}`)}>{message.topic}</a>],
              ["Enqueued", <Time at={message.enqueued_at} />],
              ["Due", <Time at={message.due_at} />],
              ["Owner", <Value value={message.owner} />],
              ["Claimed", <Time at={message.claimed_at} />],
              ["Until", <Time at={message.lease_expires_at} />],
              ["Died", <Time at={message.died_at} />],
              ["Finished", <Time at={message.finished_at} />],
              ["Attempts", message.attempts],
              ["Crashes", message.crashes],
              ["Fence", message.fence],
              ["Last error", <Value value={message.last_error} />],
              ["Correlation", <Value value={message.correlation_id} />],
              ["Headers", <Value value={message.headers} />],
            ]}
          />
          <details>
            <summary>Payload</summary>
            <Value value={message.payload ?? message.payload_base64} />
          </details>
        </Page>
      )}
    />
  );
}

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
    { title: "Last error", show: (row) => <span class="error">{row.last_error ?? "–"}</span> },
  ],
  empty: { text: "A reliable task runs every so often, once over all processes." },
};

export const Tasks = () => (
  <Page title="Tasks">
    <List of={kTasks} />
  </Page>
);
