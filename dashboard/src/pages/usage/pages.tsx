// What sessions used, window by window.
import { List, type Listed } from "../../parts/list";
import { State } from "../../parts/bits";
import { Page } from "../../parts/page";
import type { Row } from "../../parts/row";
import { Time } from "../../parts/time";

interface Window {
  window: number;
  windowStartUtc: string;
  windowEndUtc: string;
  sealedUtc: string | null;
  state: string;
  records: number;
  unsentRecords: number;
  refusedRecords: number;
}

const kWindows: Listed<Window> = {
  path: "/usage/windows",
  key: (row) => String(row.window),
  columns: [
    { title: "Window", show: (row) => row.window, number: true },
    { title: "State", show: (row) => <State word={row.state} /> },
    { title: "From", show: (row) => <Time at={row.windowStartUtc} /> },
    { title: "To", show: (row) => <Time at={row.windowEndUtc} /> },
    { title: "Records", show: (row) => row.records, number: true },
    { title: "Unsent", show: (row) => row.unsentRecords, number: true },
    { title: "Refused", show: (row) => row.refusedRecords, number: true },
  ],
  empty: { text: "What sessions used is told in windows. None was closed yet." },
};

const Usage = () => (
  <Page title="Usage">
    <List of={kWindows} />
  </Page>
);

export const rows: Row[] = [
  { path: "/usage", title: "Usage", part: "usage", scope: "usage:read", group: "Watch", key: "u", page: Usage },
];
