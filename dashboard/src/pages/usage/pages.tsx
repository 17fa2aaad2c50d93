// What sessions used, window by window, and whether the receiver knows it.
import { List, type Listed } from "../../parts/list";
import { ActButton, type Deed } from "../../parts/act";
import { Fields, Id, State } from "../../parts/bits";
import { Page, Shown } from "../../parts/page";
import type { Row } from "../../parts/row";
import { Time } from "../../parts/time";
import { Why } from "../../parts/why";
import { enc } from "../../parts/words";
import { useLive } from "../../live";
import { href } from "../../location";
import { may } from "../../session";
import type { ItemOf } from "../../types";

const kKinds = ["", "Basic", "Standard", "Premium"];

type Factor = ItemOf<"/usage/factors">;

const kWindows: Listed<"/usage/windows"> = {
  path: "/usage/windows",
  key: (row) => String(row.window),
  columns: [
    { title: "Window", show: (row) => <a href={href(`/usage/${row.window}`)}>{row.window}</a>, number: true },
    { title: "State", show: (row) => <State word={row.state} /> },
    { title: "From", show: (row) => <Time at={row.windowStartUtc} /> },
    { title: "To", show: (row) => <Time at={row.windowEndUtc} /> },
    { title: "Records", show: (row) => row.records ?? "–", number: true },
    { title: "Unsent", show: (row) => row.unsentRecords ?? "–", number: true },
    { title: "Refused", show: (row) => row.refusedRecords ?? "–", number: true },
  ],
  empty: { text: "What sessions used is told in windows, which close by themselves. None was closed yet." },
};

const kRefused: Listed<"/usage/refused"> = {
  path: "/usage/refused",
  cursor: "refused",
  key: (row) => row.recordId,
  columns: [
    { title: "Session", show: (row) => <a href={href(`/sessions/${row.sessionId}`)}><code>{row.sessionId.slice(0, 13)}…</code></a> },
    { title: "Window", show: (row) => <a href={href(`/usage/${row.window}`)}>{row.window}</a>, number: true },
    { title: "Refused", show: (row) => <Time at={row.refusedUtc} /> },
    { title: "The receiver says", show: (row) => <span class="error">{row.answer || "–"}</span> },
  ],
  empty: { text: "The receiver refuses no record." },
};

const kSetFactor: Deed = {
  title: "Set a factor",
  act: "usage.factor",
  scope: "admin",
  effect: "It counts from the end of the current window on. Windows that are closed never change.",
  needsReason: true,
  inputs: [
    { name: "kind", title: "Of sessions of kind", value: "1", options: [["1", "Basic"], ["2", "Standard"], ["3", "Premium"]] },
    { name: "factor", title: "Factor, a decimal with at most six places", value: "", fits: (text) => /^[0-9]{1,10}(\.[0-9]{1,6})?$/.test(text) },
  ],
  send: ({ kind, factor }) => ({ method: "POST", path: "/usage/factors", body: { sessionKind: Number(kind), factor } }),
  told: (answer) => `${kKinds[(answer as Factor).sessionKind]} costs ${(answer as Factor).factor} from ${(answer as Factor).fromUtc} on`,
  command: ({ kind, factor }) => `tenure usage factors set ${(kKinds[Number(kind)] ?? "").toLowerCase()} ${factor || "1.5"}`,
};
const kResend: Deed = {
  title: "Send refused records again",
  act: "usage.resend",
  scope: "admin",
  effect: "The refused records are sent once more, a thousand at a time: for when the receiver was mended.",
  send: () => ({ method: "POST", path: "/usage/refused/resend" }),
  more: (answer) => ((answer as { records: number }).records >= 1000 ? {} : null),
  told: (answer) => `${(answer as { records: number }).records} records`,
  command: "tenure usage resend",
};

function Factors() {
  const live = useLive<"/usage/factors">("/usage/factors", 3);
  return (
    <>
      <h2>Factors</h2>
      <Shown
        live={live}
        draw={({ items }) => (
          <ul class="tasks">
            {items.map((each) => <li key={each.sessionKind + each.fromUtc}><strong>{kKinds[each.sessionKind]}</strong> {each.factor}, from <Time at={each.fromUtc} /></li>)}
          </ul>
        )}
      />
    </>
  );
}

const Usage = () => (
  <Page title="Usage" acts={<ActButton deed={kSetFactor} />}>
    <List of={kWindows} />
    <Factors />
    {may("admin") && (
      <section aria-label="Refused">
        <h2>Refused by the receiver</h2>
        <p class="acts"><ActButton deed={kResend} /></p>
        <List of={kRefused} />
      </section>
    )}
  </Page>
);

const recordsOf = (window: string): Listed<"/usage/windows/{window}/records"> => ({
  path: `/usage/windows/${enc(window)}/records`,
  key: (row) => row.sessionId,
  filters: [
    { name: "userObjectId", title: "User" },
    { name: "capacityId", title: "Capacity" },
  ],
  columns: [
    { title: "Session", show: (row) => <a href={href(`/sessions/${row.sessionId}`)}><code>{row.sessionId.slice(0, 13)}…</code></a> },
    { title: "Kind", show: (row) => kKinds[row.sessionKind] ?? row.sessionKind },
    { title: "Usage", show: (row) => row.usage, number: true },
    { title: "User", show: (row) => <Id id={row.userObjectId} /> },
    { title: "Capacity", show: (row) => <Id id={row.capacityId} /> },
  ],
  empty: { text: "No session was active in this window." },
});

function WindowPage({ id }: { id: string }) {
  const totals = useLive<"/usage/totals">(`/usage/totals?fromWindow=${enc(id)}&toWindow=${enc(id)}`, 3);
  return (
    <Page title={<>Usage window {id}</>}>
      <Why kind="usage" id={id} name={id} />
      <Shown
        live={totals}
        draw={(sum) => (
          <Fields
            rows={[
              ["From", <Time at={sum.fromUtc} />],
              ["To", <Time at={sum.toUtc} />],
              ["Sessions", sum.sessions],
              ["Usage", sum.usage],
              ["Complete", sum.complete ? "yes" : "no: old sessions were removed"],
            ]}
          />
        )}
      />
      <h2>Records</h2>
      <List of={recordsOf(id)} />
    </Page>
  );
}

export const rows: Row[] = [
  { path: "/usage", kind: "usage", title: "Usage", part: "usage", scope: "usage:read", group: "Watch", key: "u", page: Usage, one: WindowPage },
];
