// The one list: a page of at most 100 rows by a cursor, with its filters in the URL.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { query } from "../api";
import { useAnswer } from "../live";
import { place, refine } from "../location";
import { useSteady } from "./steady";
import { asking, origin, withToken } from "./words";
import { Command, Trouble } from "./bits";
import type { Asked, ItemOf, ListPath } from "../types";

export interface Column<Row> {
  title: string;
  show: (row: Row) => ComponentChildren;
  number?: boolean;
}

export interface Filter {
  name: string;
  title: string;
  options?: string[]; // else it is a text
}

export interface Listed<P extends ListPath> {
  path: Asked<P>; // of the API
  key: (row: ItemOf<P>) => string;
  columns: Column<ItemOf<P>>[];
  filters?: Filter[];
  /** What is asked for besides, always. */
  query?: Record<string, string>;
  /** How its page is called in the URL, where another list stands beside it. */
  cursor?: string;
  /** All of it comes at once: it takes no limit. */
  whole?: boolean;
  /** What the thing is for, and how the first one is made. */
  empty: { text: string; curl?: (origin: string) => string; command?: string };
}

interface Answer<Row> {
  items: Row[];
  next_cursor?: string | null;
  nextCursor?: string | null;
}

/** The pages before this one, so that there is a way back: a cursor leads forward only. */
function useTrail(path: string, name: string) {
  const [trail, setTrail] = useState<string[]>([]);
  useEffect(() => setTrail([]), [path]);
  const at = place.value.search.get(name) ?? "";
  return {
    at,
    older: (next: string) => {
      setTrail([...trail, at]);
      refine({ [name]: next });
    },
    newer: trail.length > 0 || at ? () => {
      refine({ [name]: trail.at(-1) ?? "" });
      setTrail(trail.slice(0, -1));
    } : null,
  };
}

export function List<P extends ListPath>({ of, children }: { of: Listed<P>; children?: ComponentChildren }) {
  const chosen = Object.fromEntries((of.filters ?? []).map(({ name }) => [name, place.value.search.get(name) ?? ""]));
  const trail = useTrail(of.path, of.cursor ?? "cursor");
  const live = useAnswer<Answer<ItemOf<P>>>(of.path + (of.whole ? "" : query({ ...of.query, ...chosen, limit: 100, cursor: trail.at })));
  const [, redraw] = useState(0);
  const [hidden, hide] = useHidden(of.path);
  const steady = useSteady(live.data?.items ?? null, live.looks, of.key, of.path + JSON.stringify(chosen) + trail.at, () => redraw((n) => n + 1));
  const rows = steady.rows;
  const columns = of.columns.filter((column, at) => at === 0 || !hidden.includes(column.title));
  const next = live.data?.next_cursor ?? live.data?.nextCursor;
  const filtered = Object.values(chosen).some(Boolean) || trail.at !== "";

  return (
    <>
      {of.filters && <Filters filters={of.filters} chosen={chosen} />}
      {children}
      {live.problem && !live.problem.isAway && <Trouble problem={live.problem} again={live.again} />}
      {live.data === null && (!live.problem || live.problem.isAway) && <p class="skeleton" aria-busy="true">Looking…</p>}
      {live.data !== null && rows.length === 0 && (filtered ? <p class="none">Nothing fits.</p> : <Empty of={of.empty} />)}
      {steady.more > 0 && <p><button type="button" class="main" onClick={steady.show}>{steady.more} new</button></p>}
      {rows.length > 0 && (
        <div class="table">
          <table>
            <thead>
              <tr>
                {columns.map((column) => (
                  <th key={column.title} scope="col" class={column.number ? "number" : ""}>
                    {column.title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ row, gone }) => (
                <tr key={of.key(row)} class={gone ? "gone" : ""} title={gone ? "It is not in the list any more" : undefined}>
                  {columns.map((column) => (
                    <td key={column.title} data-title={column.title} class={column.number ? "number" : ""}>
                      {column.show(row)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {rows.length > 0 && of.columns.length > 4 && <Columns titles={of.columns.slice(1).map(({ title }) => title)} hidden={hidden} hide={hide} />}
      {(trail.newer || next) && (
        <nav class="pages" aria-label="Pages of the list">
          <button type="button" data-turn="back" disabled={!trail.newer} onClick={() => trail.newer?.()}>
            ‹ back
          </button>
          <button type="button" data-turn="further" disabled={!next} onClick={() => next && trail.older(next)}>
            further ›
          </button>
        </nav>
      )}
    </>
  );
}

/** Which columns the reader does not want, of each list; kept in this browser. */
function useHidden(path: string): [string[], (titles: string[]) => void] {
  // Lists of many things have the same columns.
  const key = "tenure-hidden-" + path.replace(/%?[^/]*[0-9%][^/]*/g, "-");
  const [titles, setTitles] = useState<string[]>(() => (localStorage.getItem(key) ?? "").split(",").filter(Boolean));
  return [titles, (wanted) => {
    localStorage.setItem(key, wanted.join(","));
    setTitles(wanted);
  }];
}

function Columns({ titles, hidden, hide }: { titles: string[]; hidden: string[]; hide: (titles: string[]) => void }) {
  return (
    <details class="choose">
      <summary>Columns</summary>
      {titles.map((title) => (
        <label key={title}>
          <input
            type="checkbox"
            checked={!hidden.includes(title)}
            onChange={(event) => hide(event.currentTarget.checked ? hidden.filter((each) => each !== title) : [...hidden, title])}
          />
          {title}
        </label>
      ))}
    </details>
  );
}

function Filters({ filters, chosen }: { filters: Filter[]; chosen: Record<string, string> }) {
  return (
    <form class="filters" role="search" onSubmit={(event) => event.preventDefault()}>
      {filters.map(({ name, title, options }) => (
        <label key={name}>
          {title}
          {options ? (
            <select value={chosen[name]} onChange={(event) => refine({ [name]: event.currentTarget.value, cursor: "" })}>
              <option value="">any</option>
              {options.map((option) => (
                <option key={option}>{option}</option>
              ))}
            </select>
          ) : (
            <input value={chosen[name]} onChange={(event) => refine({ [name]: event.currentTarget.value.trim(), cursor: "" })} />
          )}
        </label>
      ))}
    </form>
  );
}

function Empty({ of }: { of: Listed<ListPath>["empty"] }) {
  return (
    <div class="empty">
      <p>{of.text}</p>
      {of.curl && <Command line={withToken(of.curl(origin))} />}
      {of.command && <Command line={asking(of.command)} />}
    </div>
  );
}
