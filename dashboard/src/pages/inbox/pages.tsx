// The inbox: messages of others that are processed once.
import { List, type Listed } from "../../parts/list";
import { Fields, State, Value } from "../../parts/bits";
import { Page, Shown } from "../../parts/page";
import { Payload } from "../../parts/payload";
import type { Row } from "../../parts/row";
import { Time } from "../../parts/time";
import { Why } from "../../parts/why";
import { enc } from "../../parts/words";
import { useLive } from "../../live";
import { href } from "../../location";

/** As the server names an entry: a slash of the source is none of the id's own. */
const idOf = (source: string, message: string) => `${source.replaceAll("%", "%25").replaceAll("/", "%2F")}/${message}`;

const kEntries: Listed<"/api/v1/inbox"> = {
  path: "/api/v1/inbox",
  key: (row) => idOf(row.source, row.message_id),
  filters: [
    { name: "source", title: "Source" },
    { name: "state", title: "State", options: ["claimed", "retrying", "done", "dead"] },
  ],
  columns: [
    { title: "Message", show: (row) => <a href={href(`/inbox/${enc(row.source)}/${enc(row.message_id)}`)}>{row.message_id}</a> },
    { title: "Source", show: (row) => row.source },
    { title: "State", show: (row) => <State word={row.state} /> },
    { title: "Attempts", show: (row) => row.attempts, number: true },
    { title: "Crashes", show: (row) => row.crashes, number: true },
    { title: "Updated", show: (row) => <Time at={row.updated_at} /> },
    { title: "Error", show: (row) => <span class="error">{row.error ?? "–"}</span> },
  ],
  empty: {
    text: "The inbox tells one of many deliveries of a message to process it, and the others that it is done.",
    curl: (origin) =>
      `curl -X POST ${origin}/api/v1/inbox/begin -H 'Content-Type: application/json' -d '{"source": "stripe", "message_id": "evt_1"}'`,
  },
};

const Inbox = () => (
  <Page title="Inbox">
    <List of={kEntries} />
  </Page>
);

function EntryPage({ of, id }: { of: string; id: string }) {
  const live = useLive<"/api/v1/inbox/{source}/{message_id}">(`/api/v1/inbox/${enc(of)}/${enc(id)}`, 0.4);
  return (
    <Shown
      live={live}
      draw={(entry) => (
        <Page title={<>Message {entry.message_id}</>}>
          <Why kind="inbox" id={idOf(of, id)} name={id} />
          <Fields
            rows={[
              ["Source", <a href={href(`/inbox?source=${enc(entry.source)}`)}>{entry.source}</a>],
              ["Fence", entry.fence],
              ["Until", entry.until && <Time at={entry.until} />],
              ["Attempts", entry.attempts],
              ["Crashes", entry.crashes],
              ["Received", <Time at={entry.received_at} />],
              ["Updated", <Time at={entry.updated_at} />],
              ["Error", entry.error && <Value value={entry.error} />],
              ["Hash", entry.hash && <Value value={entry.hash} />],
            ]}
          />
          {entry.result !== undefined && <Payload value={entry.result} />}
        </Page>
      )}
    />
  );
}

/** As the search names it. */
function EntryById({ id }: { id: string }) {
  const slash = id.indexOf("/");
  return <EntryPage of={id.slice(0, slash).replaceAll("%2F", "/").replaceAll("%25", "%")} id={id.slice(slash + 1)} />;
}

export const rows: Row[] = [
  { path: "/inbox", kind: "inbox", title: "Inbox", part: "inbox", scope: "messages:read", group: "Work", key: "n", page: Inbox, one: EntryById, two: EntryPage },
];
