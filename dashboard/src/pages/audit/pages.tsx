// What was done, by whom, to what, why.
import { List, type Listed } from "../../parts/list";
import { Value } from "../../parts/bits";
import { Page } from "../../parts/page";
import type { Row } from "../../parts/row";
import { Time } from "../../parts/time";

const kAudit: Listed<"/api/v1/audit"> = {
  path: "/api/v1/audit",
  key: (row) => String(row.sequence),
  filters: [
    { name: "act", title: "Act" },
    { name: "person", title: "Person" },
    { name: "object", title: "Object" },
  ],
  columns: [
    { title: "When", show: (row) => <Time at={row.at} /> },
    { title: "Who", show: (row) => <Value value={row.person} /> },
    { title: "Act", show: (row) => <code>{row.act}</code> },
    { title: "Object", show: (row) => row.object },
    { title: "Detail", show: (row) => <Value value={row.detail} /> },
    { title: "From", show: (row) => <Value value={row.address} /> },
  ],
  empty: { text: "What operators do is on record here: breaks, redrives, pauses, ended sessions." },
};

const Audit = () => (
  <Page title="Audit">
    <List of={kAudit} />
  </Page>
);

export const rows: Row[] = [
  { path: "/audit", title: "Audit", part: "audit", scope: "admin", group: "Watch", key: "a", page: Audit },
];
