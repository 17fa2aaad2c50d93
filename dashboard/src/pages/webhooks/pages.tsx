// Webhooks: what sources sent, and which bots got it.
import { useState } from "preact/hooks";
import { List, type Listed } from "../../parts/list";
import { Command, Fields, Id, State, Trouble, Value } from "../../parts/bits";
import { Page, Shown } from "../../parts/page";
import { Payload } from "../../parts/payload";
import type { Row } from "../../parts/row";
import { Time } from "../../parts/time";
import { enc } from "../../parts/words";
import { look, Problem } from "../../api";
import { useLive } from "../../live";
import { href } from "../../location";
import { Explain } from "./explain";

const kEvents: Listed<"/api/v1/webhooks/events"> = {
  path: "/api/v1/webhooks/events",
  key: (row) => row.event_id,
  filters: [
    { name: "event", title: "Event" },
    { name: "repository", title: "Repository" },
    { name: "entity", title: "Entity, as issue/7" },
    { name: "delivery_id", title: "Delivery" },
    { name: "correlation_id", title: "Correlation" },
  ],
  columns: [
    { title: "Event", show: (row) => <a href={href(`/webhooks/${row.event_id}`)}>{row.event}{row.action && `.${row.action}`}</a> },
    { title: "Repository", show: (row) => <Value value={row.repository} /> },
    { title: "Entity", show: (row) => (row.entity.type ? `${row.entity.type}/${row.entity.id}` : "–") },
    { title: "Sender", show: (row) => <Value value={row.sender} /> },
    { title: "Received", show: (row) => <Time at={row.received_at} /> },
    { title: "Messages", show: (row) => row.messages, number: true },
    { title: "Source", show: (row) => row.source },
  ],
  empty: {
    text: "A webhook is what a source like GitHub sends: it is stored once, and each bot that wants it gets a message.",
    command: "tenure webhook send payload.json --event issues --secret-file secret",
  },
};

function Sources() {
  const live = useLive<"/api/v1/webhooks/sources">("/api/v1/webhooks/sources");
  const sources = live.data?.items ?? [];
  if (live.data && sources.length === 0)
    return (
      <>
        <p class="none">No source is in the file of bots: nobody may send webhooks.</p>
        <Command line="tenure queue apply bots.yaml" />
      </>
    );
  return (
    <ul class="tasks">
      {sources.map((source) => (
        <li key={source.name}>
          <State word={source.secrets_loaded < source.secrets ? "warning" : "ok"} /> <strong>{source.name}</strong> {source.host}, {source.secrets_loaded} of {source.secrets} secrets can be read
          {source.refused > 0 && `, ${source.refused} refused: their signatures were wrong`}
          {source.hooks.map((hook) => (
            <div key={hook.hook} class="age">hook {hook.hook || "(none said)"}: last delivery <Time at={hook.last_delivery_at} />, last ping <Time at={hook.last_ping_at} /></div>
          ))}
        </li>
      ))}
    </ul>
  );
}

const Webhooks = () => (
  <Page title="Webhooks">
    <h2>Sources</h2>
    <Sources />
    <h2>Events</h2>
    <List of={kEvents} />
    <Explain />
  </Page>
);

/** It is fetched when it is asked for: it may be 25 MB. */
function Body({ id }: { id: string }) {
  const [body, setBody] = useState<{ value: unknown } | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const fetchIt = async () => {
    try {
      setBody({ value: await look(`/api/v1/webhooks/events/${enc(id)}/payload?as=json`) });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
    }
  };
  if (problem) return <Trouble problem={problem} />;
  return body ? <Payload value={body.value} /> : <p><button type="button" onClick={fetchIt}>Fetch the payload</button></p>;
}

function EventPage({ id }: { id: string }) {
  const live = useLive<"/api/v1/webhooks/events/{id}">(`/api/v1/webhooks/events/${enc(id)}`);
  return (
    <Shown
      live={live}
      draw={(event) => (
        <Page title={<>Event {event.event}{event.action && `.${event.action}`}</>}>
          <Fields
            rows={[
              ["Id", <Id id={event.event_id} />],
              ["Repository", event.repository && <Value value={event.repository} />],
              ["Entity", event.entity.type ? `${event.entity.type}/${event.entity.id}` : "–"],
              ["Sender", event.sender && <Value value={event.sender} />],
              ["Received", <Time at={event.received_at} />],
              ["Source", event.source],
              ["Hook", event.hook && <Value value={event.hook} />],
              ["Delivery", <Id id={event.delivery_id} />],
              ["Bytes", event.bytes],
              ["Headers", <Value value={event.headers} />],
            ]}
          />
          <Command line={`tenure webhook show ${event.event_id}`} />
          <h2>Where it went</h2>
          {(event.ways ?? []).length === 0 && <p class="none">No bot wanted it.</p>}
          <ul class="tasks">
            {(event.ways ?? []).map((way) => (
              <li key={way.message_id}>
                <State word={way.state} /> {way.session ? <a href={href(`/queues/${enc(way.bot)}/${way.session}`)}>{way.bot}: {way.name}</a> : <a href={href(`/messages/${way.message_id}`)}>{way.bot}</a>}
                {way.sequence !== undefined && `, message ${way.sequence}`}{way.replay && ", once more"}
              </li>
            ))}
          </ul>
          <Body id={id} />
        </Page>
      )}
    />
  );
}

export const rows: Row[] = [
  { path: "/webhooks", title: "Webhooks", part: "webhooks", scope: "queues:read", group: "Work", key: "w", page: Webhooks, one: EventPage },
];
