// The one list: a page of at most 100 rows by a cursor, with its filters in the URL.
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { base, query } from "../api";
import { useLive } from "../live";
import { place, refine } from "../location";
import { Command, Trouble } from "./bits";

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

export interface Listed<Row> {
  path: string; // of the API
  key: (row: Row) => string;
  columns: Column<Row>[];
  filters?: Filter[];
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
function useTrail(path: string) {
  const [trail, setTrail] = useState<string[]>([]);
  useEffect(() => setTrail([]), [path]);
  const at = place.value.search.get("cursor") ?? "";
  return {
    at,
    older: (next: string) => {
      setTrail([...trail, at]);
      refine({ cursor: next });
    },
    newer: trail.length > 0 || at ? () => {
      refine({ cursor: trail.at(-1) ?? "" });
      setTrail(trail.slice(0, -1));
    } : null,
  };
}

export function List<Row>({ of, children }: { of: Listed<Row>; children?: ComponentChildren }) {
  const chosen = Object.fromEntries((of.filters ?? []).map(({ name }) => [name, place.value.search.get(name) ?? ""]));
  const trail = useTrail(of.path);
  const live = useLive<Answer<Row>>(of.path + (of.whole ? "" : query({ ...chosen, limit: 100, cursor: trail.at })));
  const rows = live.data?.items ?? [];
  const next = live.data?.next_cursor ?? live.data?.nextCursor;
  const filtered = Object.values(chosen).some(Boolean) || trail.at !== "";

  return (
    <>
      {of.filters && <Filters filters={of.filters} chosen={chosen} />}
      {children}
      {live.problem && !live.problem.isAway && <Trouble problem={live.problem} again={live.again} />}
      {live.data === null && !live.problem && <p class="skeleton" aria-busy="true">Looking…</p>}
      {live.data !== null && rows.length === 0 && (filtered ? <p class="none">Nothing fits.</p> : <Empty of={of.empty} />)}
      {rows.length > 0 && (
        <div class="table">
          <table>
            <thead>
              <tr>
                {of.columns.map((column) => (
                  <th key={column.title} scope="col" class={column.number ? "number" : ""}>
                    {column.title}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map((row) => (
                <tr key={of.key(row)}>
                  {of.columns.map((column) => (
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
      {(trail.newer || next) && (
        <nav class="pages" aria-label="Pages">
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

function Empty({ of }: { of: Listed<unknown>["empty"] }) {
  return (
    <div class="empty">
      <p>{of.text}</p>
      {of.curl && <Command line={of.curl(location.origin + base.replace(/\/$/, ""))} />}
      {of.command && <Command line={of.command} />}
    </div>
  );
}
