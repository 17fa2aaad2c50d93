// Leases: names that one process at a time holds.
import { List, type Listed } from "../../parts/list";
import { Fields, Id, State, Value } from "../../parts/bits";
import { Page, Shown } from "../../parts/page";
import type { Row } from "../../parts/row";
import { Deadline, Time, span } from "../../parts/time";
import { Why } from "../../parts/why";
import { enc } from "../../parts/words";
import { useLive } from "../../live";
import { href } from "../../location";

const kLeases: Listed<"/api/v1/leases"> = {
  path: "/api/v1/leases",
  key: (row) => row.name,
  filters: [
    { name: "prefix", title: "Name begins with" },
    { name: "holder", title: "Holder" },
    { name: "state", title: "State", options: ["free", "held", "broken"] },
  ],
  columns: [
    { title: "Lease", show: (row) => <a href={href(`/leases/${enc(row.name)}`)}>{row.name}</a> },
    { title: "State", show: (row) => <State word={row.state} /> },
    { title: "Holder", show: (row) => <Value value={row.holder} /> },
    { title: "Waiting", show: (row) => row.waiters, number: true },
    { title: "Fence", show: (row) => row.fence, number: true },
    { title: "Until", show: (row) => <Time at={row.state === "free" ? null : row.expires_at} /> },
  ],
  empty: {
    text: "A lease is a name that one process at a time holds: leader election, commands that must not run twice.",
    command: "tenure lease run nightly-report -- ./report",
  },
};

const Leases = () => (
  <Page title="Leases">
    <List of={kLeases} />
  </Page>
);

function LeasePage({ id }: { id: string }) {
  const live = useLive<"/api/v1/leases/{name}">(`/api/v1/leases/${enc(id)}`, 0.4);
  return (
    <Shown
      live={live}
      draw={(lease) => (
        <Page title={<>Lease {lease.name}</>}>
          <Why kind="lease" id={id} name={id} />
          <Fields
            rows={[
              ["Holder", lease.holder && <Value value={lease.holder} />],
              ["Fence", lease.fence],
              ["Since", lease.granted_at && <Time at={lease.granted_at} />],
              ["Renewed", lease.renewed_at && <Time at={lease.renewed_at} />],
              ["Until", lease.expires_at && <><Time at={lease.expires_at} /> {lease.renewed_at && lease.state !== "free" && <Deadline since={lease.renewed_at} until={lease.expires_at} />}</>],
              ["Ended", lease.ended_at && <Time at={lease.ended_at} />],
              ["Time to live", lease.ttl_ms && span(lease.ttl_ms)],
              ["Waiting", lease.waiters],
              ["Term", lease.term && <Id id={lease.term} />],
              ["Broken because", lease.break_reason && <Value value={lease.break_reason} />],
              ["Frozen until", lease.frozen_until && <Time at={lease.frozen_until} />],
              ["Guarded by", lease.guard && `process ${lease.guard.pid} of ${lease.guard.user}`],
              ["Metadata", lease.metadata && <Value value={lease.metadata} />],
            ]}
          />
          <h2>Before</h2>
          {lease.history.length === 0 && <p class="none">No grant of it is over.</p>}
          <ol class="history">
            {lease.history.map((grant) => (
              <li key={grant.fence}>
                <State word={grant.reason} /> by <strong>{grant.holder}</strong> <span class="age">after {span(Date.parse(grant.ended_at) - Date.parse(grant.granted_at))}, fence {grant.fence}</span> {grant.detail && <em>{grant.detail}</em>}
                <div class="age"><Time at={grant.granted_at} /> → <Time at={grant.ended_at} /></div>
              </li>
            ))}
          </ol>
        </Page>
      )}
    />
  );
}

export const rows: Row[] = [
  { path: "/leases", kind: "lease", title: "Leases", part: "leases", scope: "leases:read", group: "Hold", key: "l", page: Leases, one: LeasePage },
];
