// The one table of pages: the menu, the titles, what a path shows and where the search leads all come
// from it. A capability brings its rows; it is added here, and nowhere else.
import type { ComponentChildren } from "preact";
import type { Row } from "./parts/row";
import { knowPages, others as account } from "./pages/account/pages";
import { rows as audit } from "./pages/audit/pages";
import { rows as inbox } from "./pages/inbox/pages";
import { rows as jobs } from "./pages/jobs/pages";
import { rows as leases } from "./pages/leases/pages";
import { others as seats, rows as licenses } from "./pages/licenses/pages";
import { others as message, rows as messages } from "./pages/messages/pages";
import { rows as overview } from "./pages/overview/pages";
import { others as queueSessions, rows as queues } from "./pages/queues/pages";
import { rows as sessions } from "./pages/sessions/pages";
import { rows as subscriptions } from "./pages/subscriptions/pages";
import { others as processes, rows as system } from "./pages/system/pages";
import { rows as tasks } from "./pages/tasks/pages";
import { rows as usage } from "./pages/usage/pages";
import { rows as webhooks } from "./pages/webhooks/pages";

/** In the order of the menu. */
export const kRows: Row[] = [
  ...overview, ...sessions, ...leases, ...licenses, ...messages, ...queues, ...webhooks, ...inbox, ...jobs, ...subscriptions, ...tasks, ...usage, ...audit, ...system,
];
/** Pages of one thing that has no list of its own, and what is about the reader. */
const kOthers: Row[] = [...message, ...seats, ...queueSessions, ...processes, ...account];
knowPages(kRows);

export function pageOf(path: string): ComponentChildren | null {
  for (const row of [...kRows, ...kOthers]) {
    if (path === row.path && row.page) return <row.page />;
    const rest = row.path === "/" ? "" : path.startsWith(row.path + "/") ? path.slice(row.path.length + 1) : "";
    const [first = "", second, third] = rest.split("/");
    try {
      if (first && second === undefined && row.one) return <row.one key={rest} id={decodeURIComponent(first)} />;
      if (first && second && third === undefined && row.two) return <row.two key={rest} of={decodeURIComponent(first)} id={decodeURIComponent(second)} />;
    } catch {
      return null; // not well encoded
    }
  }
  return null;
}

/** Where a thing is shown; null: nowhere by itself. */
export function placeOf(kind: string, id: string): string | null {
  const row = [...kRows, ...kOthers].find((each) => each.kind === kind);
  if (!row) return null;
  return row.one ? `${row.path}/${encodeURIComponent(id)}` : row.path;
}
