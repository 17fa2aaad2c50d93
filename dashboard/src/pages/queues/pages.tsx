// Ordered queues: their sessions, who has the turn, and what stopped one.
import { List, type Listed } from "../../parts/list";
import { Fields, Id, State, Value } from "../../parts/bits";
import { Page, Shown } from "../../parts/page";
import { Payload } from "../../parts/payload";
import type { Row } from "../../parts/row";
import { Time, span } from "../../parts/time";
import { Why } from "../../parts/why";
import { enc, quoted } from "../../parts/words";
import { useLive } from "../../live";
import { go, href } from "../../location";
import { useEffect } from "preact/hooks";
import { Causes, Letters } from "./letters";

const kQueues: Listed<"/api/v1/queues"> = {
  path: "/api/v1/queues",
  key: (row) => row.queue,
  columns: [
    { title: "Queue", show: (row) => <a href={href(`/queues/${enc(row.queue)}`)}>{row.queue}</a> },
    { title: "State", show: (row) => <State word={row.paused ? "paused" : row.state} /> },
    { title: "Order", show: (row) => row.ordering_scope },
    { title: "Messages", show: (row) => row.messages, number: true },
    { title: "Ready", show: (row) => row.ready_sessions, number: true },
    { title: "Held", show: (row) => row.held_sessions, number: true },
    { title: "Parked", show: (row) => row.parked_sessions, number: true },
    { title: "Oldest", show: (row) => (row.oldest_ready_ms > 0 ? span(row.oldest_ready_ms) : "–"), number: true },
  ],
  empty: {
    text: "An ordered queue hands out the messages of one session one after another, to one consumer at a time. A file of bots says which queues there are.",
    curl: (origin) =>
      `curl -X PUT ${origin}/api/v1/bots -H 'Content-Type: application/json' -d '{"sources": [], "bots": [{"name": "orders", "events": [], "ordering_scope": "custom"}]}'`,
    command: "tenure queue apply bots.yaml",
  },
};

const Queues = () => (
  <Page title="Queues">
    <List of={kQueues} />
  </Page>
);

const sessionsOf = (queue: string): Listed<"/api/v1/queues/{queue}/sessions"> => ({
  path: `/api/v1/queues/${enc(queue)}/sessions`,
  key: (row) => row.session,
  filters: [
    { name: "key", title: "Key or name" },
    { name: "state", title: "State", options: ["idle", "ready", "held", "parked"] },
    { name: "consumer", title: "Consumer" },
  ],
  columns: [
    { title: "Session", show: (row) => <a href={href(`/queues/${enc(queue)}/${row.session}`)}>{row.name || row.key}</a> },
    { title: "State", show: (row) => <State word={row.reason} /> },
    { title: "Waiting", show: (row) => row.depth, number: true },
    { title: "Consumer", show: (row) => <Value value={row.consumer} /> },
    { title: "Until", show: (row) => <Time at={row.lease_expires_at ?? row.until} /> },
    { title: "First waits since", show: (row) => <Time at={row.head_enqueued_at} /> },
    { title: "Error", show: (row) => <span class="error">{row.error ?? "–"}</span> },
  ],
  empty: { text: "A session is the messages of one key. There is none.", command: `tenure queue send ${quoted(queue)} customer-7 '{"order": 1}'` },
});

function QueuePage({ id }: { id: string }) {
  const live = useLive<"/api/v1/queues/{queue}">(`/api/v1/queues/${enc(id)}`, 0.4);
  return (
    <Shown
      live={live}
      draw={(queue) => (
        <Page title={<>Queue {queue.queue}</>}>
          <Why kind="queue" id={id} name={id} />
          <Fields
            rows={[
              ["Order", queue.ordering_scope],
              ["Generation", queue.generation],
              ["Messages", queue.messages],
              ["Bytes", queue.bytes],
              ["Sessions ready", queue.ready_sessions],
              ["Sessions held", queue.held_sessions],
              ["Sessions parked", queue.parked_sessions],
              ["Places taken", queue.utilization ? `${queue.utilization} %` : "–"],
            ]}
          />
          {queue.parked_sessions > 0 && <Causes queue={id} />}
          <h2>Sessions</h2>
          <List of={sessionsOf(id)} />
          <Letters queue={id} />
          <h2>Settings</h2>
          <Fields rows={Object.entries(queue.settings).map(([name, value]) => [name, name.endsWith("_ms") ? span(Number(value)) : value])} />
        </Page>
      )}
    />
  );
}

const messagesOf = (queue: string, session: string): Listed<"/api/v1/queues/{queue}/sessions/{id}/messages"> => ({
  path: `/api/v1/queues/${enc(queue)}/sessions/${session}/messages`,
  key: (row) => row.id,
  columns: [
    { title: "Sequence", show: (row) => row.sequence, number: true },
    { title: "State", show: (row) => <State word={row.state} /> },
    { title: "Message", show: (row) => <Id id={row.id} /> },
    { title: "Sent", show: (row) => <Time at={row.enqueued_at} /> },
    { title: "Expires", show: (row) => <Time at={row.expires_at} /> },
    { title: "Bytes", show: (row) => row.bytes, number: true },
    { title: "Payload", show: (row) => (row.event_id ? <a href={href(`/webhooks/${row.event_id}`)}>its event</a> : <Payload value={row.payload ?? row.payload_base64} brief />) },
  ],
  empty: { text: "It has no messages, and none that are done are kept." },
});

function SessionPage({ of, id }: { of: string; id: string }) {
  const live = useLive<"/api/v1/queues/{queue}/sessions/{id}">(`/api/v1/queues/${enc(of)}/sessions/${enc(id)}`, 0.4);
  return (
    <Shown
      live={live}
      draw={(session) => (
        <Page title={<>Session {session.name || session.key}</>}>
          <p><a href={href(`/queues/${enc(of)}`)}>Queue {of}</a></p>
          <Why kind="queue-session" id={id} name={session.name || session.key} />
          <Fields
            rows={[
              ["Key", <code>{session.key}</code>],
              ["Id", <Id id={session.session} />],
              ["Consumer", session.consumer && <Value value={session.consumer} />],
              ["Until", <Time at={session.lease_expires_at ?? session.until} />],
              ["Fence", session.fence],
              ["First message", session.head],
              ["Waiting", session.depth],
              ["Attempts of the first", session.attempts],
              ["Parked", session.parked_at && <Time at={session.parked_at} />],
              ["Error", session.error && <Value value={session.error} />],
              ["Generation", session.generation],
              ["Created", <Time at={session.created_at} />],
              ["Active", <Time at={session.active_at} />],
            ]}
          />
          <h2>Messages</h2>
          <List of={messagesOf(of, id)} />
        </Page>
      )}
    />
  );
}

/** The search knows a session by its id alone; why it is as it is tells its queue. */
function SessionById({ id }: { id: string }) {
  const live = useLive<"/api/v1/why/queue-session/{id}">(`/api/v1/why/queue-session/${enc(id)}`);
  const link = live.data?.because[0]?.link;
  useEffect(() => {
    if (link) go(link.endsWith(id) ? link : `${link}/${id}`, true);
  }, [link]);
  return <Shown live={live} draw={() => <p class="skeleton" aria-busy="true">Looking…</p>} />;
}

export const rows: Row[] = [
  { path: "/queues", kind: "queue", title: "Queues", part: "queues", scope: "queues:read", group: "Work", key: "q", page: Queues, one: QueuePage, two: SessionPage },
];
export const others: Row[] = [
  { path: "/queue-sessions", kind: "queue-session", title: "Session", part: "queues", scope: "queues:read", group: "Work", one: SessionById },
];
