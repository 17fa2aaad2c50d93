// Sessions of users on capacities.
import { List, type Listed } from "../../parts/list";
import { Fields, Id, State, Value } from "../../parts/bits";
import { Page, Shown } from "../../parts/page";
import type { Row } from "../../parts/row";
import { Time } from "../../parts/time";
import { Why } from "../../parts/why";
import { enc } from "../../parts/words";
import { useLive } from "../../live";
import { href } from "../../location";

const kKinds = ["", "Basic", "Standard", "Premium"];

const kSessions: Listed<"/sessions"> = {
  path: "/sessions",
  key: (row) => row.sessionId,
  filters: [
    { name: "userObjectId", title: "User" },
    { name: "capacityId", title: "Capacity" },
    { name: "tenantObjectId", title: "Tenant" },
    { name: "active", title: "Active", options: ["true", "false"] },
  ],
  columns: [
    { title: "Session", show: (row) => <a href={href(`/sessions/${row.sessionId}`)}><code>{row.sessionId.slice(0, 13)}…</code></a> },
    { title: "State", show: (row) => <State word={row.isActive ? "active" : "ended"} /> },
    { title: "Kind", show: (row) => kKinds[row.sessionKind] ?? row.sessionKind },
    { title: "User", show: (row) => <Id id={row.userObjectId} /> },
    { title: "Capacity", show: (row) => <Id id={row.capacityId} /> },
    { title: "Start", show: (row) => <Time at={row.sessionStartUtc} /> },
    { title: "End", show: (row) => <Time at={row.sessionEndUtc} /> },
  ],
  empty: {
    text: "A session is a user's use of a capacity for a while: at most one of a user and a capacity is active.",
    command: "tenure session put --user 6f9619ff-8b86-4011-b42d-00c04fc964ff --tenant 11111111-1111-4111-8111-111111111111 --capacity 22222222-2222-4222-8222-222222222222 --kind basic",
  },
};

const Sessions = () => (
  <Page title="Sessions">
    <List of={kSessions} />
  </Page>
);

function SessionPage({ id }: { id: string }) {
  const live = useLive<"/sessions/{id}">(`/sessions/${enc(id)}`, 0.4);
  return (
    <Shown
      live={live}
      draw={(session) => (
        <Page title={<>Session <Id id={session.sessionId} /></>}>
          <Why kind="session" id={id} name={id.slice(0, 8)} />
          <Fields
            rows={[
              ["State", <State word={session.isActive ? "active" : "ended"} />],
              ["Kind", kKinds[session.sessionKind]],
              ["User", <Id id={session.userObjectId} />],
              ["Capacity", <Id id={session.capacityId} />],
              ["Tenant", <Id id={session.tenantObjectId} />],
              ["Start", <Time at={session.sessionStartUtc} />],
              ["End", <Time at={session.sessionEndUtc} />],
              ["Ended because", session.endReason && <Value value={session.endReason} />],
            ]}
          />
        </Page>
      )}
    />
  );
}

export const rows: Row[] = [
  { path: "/sessions", kind: "session", title: "Sessions", part: "sessions", scope: "sessions:read", group: "Hold", key: "s", page: Sessions, one: SessionPage },
];
