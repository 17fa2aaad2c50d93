// Where the page is: everything that it shows follows from its URL, so that a link shows what its
// sender saw.
import { signal } from "@preact/signals";
import { base } from "./api";

export interface Place {
  path: string; // below /ui, "/leases/nightly"
  search: URLSearchParams;
}

function read(): Place {
  const path = location.pathname.slice((base + "ui").length) || "/";
  return { path, search: new URLSearchParams(location.search) };
}

export const place = signal<Place>(read());

addEventListener("popstate", () => (place.value = read()));

export const href = (path: string) => base + "ui" + path;

export function go(path: string, replace = false) {
  history[replace ? "replaceState" : "pushState"](null, "", href(path));
  place.value = read();
  if (!replace) scrollTo(0, 0);
}

/** Sets filters of this place; an empty one goes. */
export function refine(fields: Record<string, string>, replace = false) {
  const search = new URLSearchParams(place.value.search);
  for (const [key, value] of Object.entries(fields)) value ? search.set(key, value) : search.delete(key);
  const text = search.toString();
  go(place.value.path + (text ? "?" + text : ""), replace);
}

/** Links of the page are followed without loading it anew; what opens a tab or a window is the browser's. */
document.addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element).closest("a");
  const path = link?.getAttribute("href");
  if (!link || link.target || !path?.startsWith(base + "ui/")) return;
  event.preventDefault();
  go(path.slice((base + "ui").length));
});
