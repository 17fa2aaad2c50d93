// The one table of pages: the menu, the titles and what a path shows all come from it.
import type { ComponentChildren, ComponentType } from "preact";
import { LeasePage, Leases, LicensePage, Licenses, SessionPage, Sessions } from "./pages/held";
import { DeadLetters, MessagePage, Tasks, TopicPage, Topics } from "./pages/work";
import { Account, Audit, Overview, Usage } from "./pages/watch";

export interface Row {
  path: string;
  title: string;
  part: string | null; // the capability that has to be there
  scope: string | null; // what its calls need
  group: "" | "Hold" | "Work" | "Watch";
  key?: string; // "g" and this one lead there
  page: ComponentType;
  one?: ComponentType<{ id: string }>; // of `path/{id}`
}

export const kRows: Row[] = [
  { path: "/", title: "Overview", part: null, scope: null, group: "", key: "o", page: Overview },
  { path: "/sessions", title: "Sessions", part: "sessions", scope: "sessions:read", group: "Hold", key: "s", page: Sessions, one: SessionPage },
  { path: "/leases", title: "Leases", part: "leases", scope: "leases:read", group: "Hold", key: "l", page: Leases, one: LeasePage },
  { path: "/licenses", title: "Licences", part: "seats", scope: "licenses:read", group: "Hold", key: "i", page: Licenses, one: LicensePage },
  { path: "/topics", title: "Topics", part: "messages", scope: "messages:read", group: "Work", key: "t", page: Topics, one: TopicPage },
  { path: "/dead-letters", title: "Dead letters", part: "messages", scope: "messages:read", group: "Work", key: "d", page: DeadLetters },
  { path: "/tasks", title: "Tasks", part: "tasks", scope: "leases:read", group: "Work", key: "k", page: Tasks },
  { path: "/usage", title: "Usage", part: "usage", scope: "usage:read", group: "Watch", key: "u", page: Usage },
  { path: "/audit", title: "Audit", part: "audit", scope: "admin", group: "Watch", key: "a", page: Audit },
];

/** Pages of one thing that has no list of its own, and what is about the reader. */
export const kOthers: { path: string; page?: ComponentType; one?: ComponentType<{ id: string }> }[] = [
  { path: "/messages", one: MessagePage },
  { path: "/account", page: Account },
];

export function pageOf(path: string): ComponentChildren | null {
  for (const row of [...kRows, ...kOthers]) {
    if (path === row.path && row.page) return <row.page />;
    const rest = row.path === "/" ? "" : path.startsWith(row.path + "/") ? path.slice(row.path.length + 1) : "";
    if (!rest || !row.one || rest.includes("/")) continue;
    try {
      return <row.one key={rest} id={decodeURIComponent(rest)} />;
    } catch {
      return null; // not well encoded
    }
  }
  return null;
}
