// Licences, and who has their seats.
import { List, type Listed } from "../../parts/list";
import { Command, Fields, Id, State, Value } from "../../parts/bits";
import { Page, Shown } from "../../parts/page";
import type { Row } from "../../parts/row";
import { Time, span } from "../../parts/time";
import { Why } from "../../parts/why";
import { enc } from "../../parts/words";
import { useLive } from "../../live";
import { href } from "../../location";
import type { AnswerOf } from "../../types";

const kLicenses: Listed<"/api/v1/licenses"> = {
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

const Licenses = () => (
  <Page title="Licences">
    <List of={kLicenses} />
  </Page>
);

const seatsOf = (license: string): Listed<"/api/v1/licenses/{id}/sessions"> => ({
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
    { title: "Session", show: (row) => <a href={href(`/seats/${row.session_id}`)}><code>{row.session_id.slice(0, 13)}…</code></a> },
  ],
  empty: { text: "Nobody has had a seat of this licence." },
});

function LicensePage({ id }: { id: string }) {
  const live = useLive<"/api/v1/licenses/{id}">(`/api/v1/licenses/${enc(id)}`, 0.4);
  return (
    <Shown
      live={live}
      draw={(license) => (
        <Page title={<>Licence {license.name || <Id id={license.id} />}</>}>
          <Why kind="license" id={license.id} name={license.name || license.id} />
          <SeatGrid license={license} />
          <Fields
            rows={[
              ["State", <State word={license.draining ? "draining" : license.state} />],
              ["Organisation", license.organization],
              ["Seats", `${license.seats_used} of ${license.seats} used, ${license.seats_offered} offered`],
              ["Waiting", license.waiting],
              ["Time to live", span(license.ttl_seconds * 1000)],
              ["Valid from", license.valid_from && <Time at={license.valid_from} />],
              ["Valid until", license.valid_until && <Time at={license.valid_until} />],
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

const kMostSquares = 500;

/** A square for each seat: a shape and a word for each state, and the figures beside it. */
function SeatGrid({ license }: { license: AnswerOf<"/api/v1/licenses/{id}"> }) {
  const held = license.seats_used - license.seats_offered;
  const all = Math.min(Math.max(license.seats, license.seats_used), kMostSquares);
  const shapeOf = (n: number) => (n < held ? "■" : n < license.seats_used ? "◐" : "□");
  return (
    <figure class="seats">
      <p aria-hidden="true">{Array.from({ length: all }, (_, n) => shapeOf(n)).join(" ")}</p>
      <figcaption>
        ■ {held} held, ◐ {license.seats_offered} offered, □ {license.seats_remaining} free of {license.seats}
        {license.waiting > 0 && `; ${license.waiting} wait`}
      </figcaption>
    </figure>
  );
}

function SeatPage({ id }: { id: string }) {
  const live = useLive<"/api/v1/licenses/sessions/{id}">(`/api/v1/licenses/sessions/${enc(id)}`, 0.4);
  return (
    <Shown
      live={live}
      draw={(seat) => (
        <Page title={<>Seat of {seat.machine_id}</>}>
          <Why kind="seat" id={id} name={id.slice(0, 8)} />
          <Fields
            rows={[
              ["Licence", <a href={href(`/licenses/${seat.license_id}`)}>{seat.license_id.slice(0, 13)}…</a>],
              ["Session", <Id id={id} />],
              ["Person", seat.person && <Value value={seat.person} />],
              ["Slot", seat.slot],
              ["Fence", seat.fence],
              ["Since", seat.started_at && <Time at={seat.started_at} />],
              ["Heartbeat", seat.last_heartbeat_at && <Time at={seat.last_heartbeat_at} />],
              ["Until", <Time at={seat.ended_at ?? seat.expires_at} />],
              ["Address", <Value value={seat.ip_address} />],
              ["Program", <Value value={seat.user_agent} />],
            ]}
          />
        </Page>
      )}
    />
  );
}

export const rows: Row[] = [
  { path: "/licenses", kind: "license", title: "Licences", part: "seats", scope: "licenses:read", group: "Hold", key: "i", page: Licenses, one: LicensePage },
];
export const others: Row[] = [
  { path: "/seats", kind: "seat", title: "Seat", part: "seats", scope: "licenses:read", group: "", one: SeatPage },
];
