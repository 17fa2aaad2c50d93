// Subscriptions: topics whose messages the server sends to endpoints.
import { List, type Listed } from "../../parts/list";
import { Fields, State, Value } from "../../parts/bits";
import { Page, Shown } from "../../parts/page";
import type { Row } from "../../parts/row";
import { Time, span } from "../../parts/time";
import { Why } from "../../parts/why";
import { enc } from "../../parts/words";
import { useLive } from "../../live";
import { href } from "../../location";

const kSubscriptions: Listed<"/api/v1/subscriptions"> = {
  path: "/api/v1/subscriptions",
  key: (row) => row.name,
  columns: [
    { title: "Subscription", show: (row) => <a href={href(`/subscriptions/${enc(row.name)}`)}>{row.name}</a> },
    { title: "State", show: (row) => <State word={row.state} /> },
    { title: "Topic", show: (row) => <a href={href(`/topics/${enc(row.topic)}`)}>{row.topic}</a> },
    { title: "Endpoint", show: (row) => row.url },
    { title: "Delivered", show: (row) => row.delivered, number: true },
    { title: "Failed", show: (row) => row.failed, number: true },
    { title: "Last", show: (row) => <Time at={row.last_at} /> },
    { title: "Last error", show: (row) => <span class="error">{row.last_error ?? "–"}</span> },
  ],
  empty: {
    text: "A subscription hands the messages of a topic to an HTTPS endpoint.",
    command: "tenure subscription put billing orders https://hooks.example.com/orders",
  },
};

const Subscriptions = () => (
  <Page title="Subscriptions">
    <List of={kSubscriptions} />
  </Page>
);

function SubscriptionPage({ id }: { id: string }) {
  const live = useLive<"/api/v1/subscriptions/{name}">(`/api/v1/subscriptions/${enc(id)}`, 0.4);
  return (
    <Shown
      live={live}
      draw={(row) => (
        <Page title={<>Subscription {row.name}</>}>
          <Why kind="subscription" id={id} name={id} />
          <Fields
            rows={[
              ["Topic", <a href={href(`/topics/${enc(row.topic)}`)}>{row.topic}</a>],
              ["Endpoint", row.url],
              ["Delivered by", row.delivered_by && <Value value={row.delivered_by} />],
              ["Delivered", row.delivered],
              ["Failed", row.failed],
              ["Failures in a row", row.failures],
              ["Next try", row.next_try_at && <Time at={row.next_try_at} />],
              ["Last request", row.last_at && <Time at={row.last_at} />],
              ["Last status", row.last_status && <Value value={row.last_status} />],
              ["Last error", row.last_error && <Value value={row.last_error} />],
              ["Requests at a time", row.max_in_flight],
              ["Time for one", span(row.timeout_ms)],
              ["Form", row.format],
              ["Headers", row.header_names.join(", ") || "–"],
            ]}
          />
        </Page>
      )}
    />
  );
}

export const rows: Row[] = [
  { path: "/subscriptions", kind: "subscription", title: "Subscriptions", part: "push", scope: "subscriptions:read", group: "Work", key: "b", page: Subscriptions, one: SubscriptionPage },
];
