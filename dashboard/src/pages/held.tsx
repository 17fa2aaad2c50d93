// What is held: sessions, leases, licences.
import { List, type Listed } from "../parts/list";
import { ActButton } from "../parts/act";
import { Command, Fields, Id, State, Value } from "../parts/bits";
import { Page, Shown } from "../parts/page";
import { Time, span } from "../parts/time";
import { useLive } from "../live";
import { href } from "../location";

const enc = encodeURIComponent;
const quoted = (text: string) => (/^[A-Za-z0-9._\/-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

interface Session {
  sessionId: string;
  userObjectId: string;
  tenantObjectId: string;
  capacityId: string;
  sessionKind: number;
  sessionStartUtc: string;
  sessionEndUtc: string;
  isActive: boolean;
  endReason: string | null;
}
const kKinds = ["", "Basic", "Standard", "Premium"];

const kSessions: Listed<Session> = {
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

export const Sessions = () => (
  <Page title="Sessions">
    <List of={kSessions} />
  </Page>
);

export function SessionPage({ id }: { id: string }) {
  const live = useLive<Session>(`/sessions/${enc(id)}`, 0.4);
  return (
    <Shown
      live={live}
      draw={(session) => (
        <Page
          title={<>Session <Id id={session.sessionId} /></>}
          acts={
            session.isActive && (
              <ActButton
                done={live.again}
                deed={{
                  title: "End the session",
                  scope: "sessions:write",
                  effect: "It ends now: the user's next request makes a new one. What it used until now is billed.",
                  typed: session.sessionId.slice(0, 8),
                  send: () => ({ method: "DELETE", path: `/sessions/${session.sessionId}` }),
                  command: `tenure session end ${session.sessionId}`,
                }}
              />
            )
          }
        >
          <Fields
            rows={[
              ["State", <State word={session.isActive ? "active" : "ended"} />],
              ["Kind", kKinds[session.sessionKind]],
              ["User", <Id id={session.userObjectId} />],
              ["Capacity", <Id id={session.capacityId} />],
              ["Tenant", <Id id={session.tenantObjectId} />],
              ["Start", <Time at={session.sessionStartUtc} />],
              ["End", <Time at={session.sessionEndUtc} />],
              ["Ended because", <Value value={session.endReason} />],
            ]}
          />
        </Page>
      )}
    />
  );
}

interface Lease {
  name: string;
  state: string;
  fence: number;
  holder: string;
  term: string;
  metadata: unknown;
  ttl_ms: number;
  granted_at: string | null;
  renewed_at: string | null;
  expires_at: string | null;
  ended_at: string | null;
  break_reason: string | null;
  waiters: number;
  frozen_until: string | null;
  guard: { pid: number; user: string; since: string } | null;
}
interface PastGrant {
  fence: number;
  holder: string;
  granted_at: string;
  ended_at: string;
  reason: string;
  detail: string | null;
}

const kLeases: Listed<Lease> = {
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

export const Leases = () => (
  <Page title="Leases">
    <List of={kLeases} />
  </Page>
);

export function LeasePage({ id }: { id: string }) {
  const live = useLive<Lease & { history: PastGrant[] }>(`/api/v1/leases/${enc(id)}`, 0.4);
  return (
    <Shown
      live={live}
      draw={(lease) => (
        <Page
          title={<>Lease {lease.name}</>}
          acts={
            lease.state === "held" && (
              <ActButton
                done={live.again}
                deed={{
                  title: "Break it",
                  scope: "admin",
                  effect: `${lease.holder} cannot renew any more; at its deadline the name is free${lease.waiters > 0 ? ", and whoever waits longest gets it" : ""}.`,
                  asksReason: true,
                  takesKey: true,
                  send: (reason) => ({
                    method: "POST",
                    path: `/api/v1/leases/${enc(lease.name)}/break`,
                    body: { reason, fence: lease.fence },
                  }),
                  command: `tenure lease break ${quoted(lease.name)} --reason …`,
                }}
              />
            )
          }
        >
          <Fields
            rows={[
              ["State", <State word={lease.guard ? "guarded" : lease.frozen_until ? "frozen" : lease.state} />],
              ["Holder", <Value value={lease.holder} />],
              ["Fence", lease.fence],
              ["Since", <Time at={lease.granted_at} />],
              ["Renewed", <Time at={lease.renewed_at} />],
              ["Until", <Time at={lease.expires_at} />],
              ["Ended", <Time at={lease.ended_at} />],
              ["Time to live", lease.ttl_ms ? span(lease.ttl_ms) : "–"],
              ["Waiting", lease.waiters],
              ["Term", lease.term ? <Id id={lease.term} /> : "–"],
              ["Broken because", <Value value={lease.break_reason} />],
              ["Frozen until", <Time at={lease.frozen_until} />],
              ["Guarded by", <Value value={lease.guard && `process ${lease.guard.pid} of ${lease.guard.user}`} />],
              ["Metadata", <Value value={lease.metadata} />],
            ]}
          />
          <Command line={`tenure why lease ${quoted(lease.name)}`} />
          <h2>Before</h2>
          {lease.history.length === 0 && <p class="none">No grant of it is over.</p>}
          <ol class="history">
            {lease.history.map((grant) => (
              <li key={grant.fence}>
                <strong>{grant.fence}</strong> {grant.holder} <Time at={grant.granted_at} /> → <Time at={grant.ended_at} />{" "}
                <em>{grant.reason}</em> {grant.detail}
              </li>
            ))}
          </ol>
        </Page>
      )}
    />
  );
}

interface License {
  id: string;
  organization: string;
  name: string | null;
  key_hint: string;
  seats: number;
  seats_used: number;
  seats_offered: number;
  seats_remaining: number;
  draining: boolean;
  waiting: number;
  state: string;
  ttl_seconds: number;
  valid_from: string | null;
  valid_until: string | null;
  revision: number;
  frozen_until?: string | null;
  log: { entries: number; head: string };
}

const kLicenses: Listed<License> = {
  path: "/api/v1/licenses",
  key: (row) => row.id,
  filters: [
    { name: "organization", title: "Organisation" },
    { name: "state", title: "State", options: ["active", "suspended", "revoked", "expired", "not_yet_valid"] },
    { name: "key_hint", title: "Key ends with" },
  ],
  columns: [
    { title: "Licence", show: (row) => <a href={href(`/licenses/${row.id}`)}>{row.name || row.id.slice(0, 13) + "…"}</a> },
    { title: "Organisation", show: (row) => row.organization },
    { title: "State", show: (row) => <State word={row.draining ? "draining" : row.state} /> },
    { title: "Key", show: (row) => <code>…{row.key_hint}</code> },
    { title: "Used", show: (row) => row.seats_used, number: true },
    { title: "Seats", show: (row) => row.seats, number: true },
    { title: "Waiting", show: (row) => row.waiting, number: true },
  ],
  empty: {
    text: "A licence has so many seats that may be used at once. A machine that dies frees its seat by itself.",
    command: "tenure license create --seats 5 --name 'Acme CAD'",
  },
};

export const Licenses = () => (
  <Page title="Licences">
    <List of={kLicenses} />
  </Page>
);

interface SeatSession {
  session_id: string;
  state: string;
  machine_id: string;
  person: string;
  slot: number;
  started_at: string;
  last_heartbeat_at: string | null;
  expires_at: string | null;
  ended_at: string | null;
  end_reason: string | null;
}

const seatsOf = (license: string): Listed<SeatSession> => ({
  path: `/api/v1/licenses/${enc(license)}/sessions`,
  key: (row) => row.session_id,
  filters: [
    { name: "state", title: "State", options: ["active", "lapsed", "ended"] },
    { name: "machine_id", title: "Machine" },
    { name: "person", title: "Person" },
  ],
  columns: [
    { title: "Machine", show: (row) => row.machine_id },
    { title: "Person", show: (row) => <Value value={row.person} /> },
    { title: "State", show: (row) => <State word={row.end_reason ?? row.state} /> },
    { title: "Since", show: (row) => <Time at={row.started_at} /> },
    { title: "Heartbeat", show: (row) => <Time at={row.last_heartbeat_at} /> },
    { title: "Until", show: (row) => <Time at={row.ended_at ?? row.expires_at} /> },
    { title: "Session", show: (row) => <Id id={row.session_id} /> },
  ],
  empty: { text: "Nobody has had a seat of this licence." },
});

export function LicensePage({ id }: { id: string }) {
  const live = useLive<License>(`/api/v1/licenses/${enc(id)}`, 0.4);
  return (
    <Shown
      live={live}
      draw={(license) => (
        <Page title={<>Licence {license.name || <Id id={license.id} />}</>}>
          <Fields
            rows={[
              ["State", <State word={license.draining ? "draining" : license.state} />],
              ["Organisation", license.organization],
              ["Seats", `${license.seats_used} of ${license.seats} used, ${license.seats_offered} offered`],
              ["Waiting", license.waiting],
              ["Time to live", span(license.ttl_seconds * 1000)],
              ["Valid from", <Time at={license.valid_from} />],
              ["Valid until", <Time at={license.valid_until} />],
              ["Log", `${license.log.entries} entries`],
            ]}
          />
          <Command line={`tenure seat prove ${license.id}`} />
          <h2>Seats</h2>
          <List of={seatsOf(license.id)} />
        </Page>
      )}
    />
  );
}
