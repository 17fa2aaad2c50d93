// The search: any id, or the beginning of a name. "/" opens it from everywhere.
import { useEffect, useRef, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import { look, Problem, query } from "./api";
import { go } from "./location";
import { State } from "./parts/bits";
import { kRows, placeOf } from "./routes";
import { may, me } from "./session";
import type { ItemOf } from "./types";

export const searching = signal(false);
const kPauseMs = 150;
const kMostBytes = 200;

/** Pages whose titles begin so. */
function pagesLike(text: string): { path: string; title: string }[] {
  const small = text.toLowerCase();
  return kRows.filter((row) => row.title.toLowerCase().startsWith(small) && (row.part === null || me.value?.parts.includes(row.part)) && (row.scope === null || may(row.scope)));
}

export function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [found, setFound] = useState<ItemOf<"/api/v1/search">[] | null>(null);
  const [problem, setProblem] = useState("");
  const [at, setAt] = useState(0);
  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    setAt(0);
    setProblem("");
    const wanted = text.trim();
    if (!wanted || new TextEncoder().encode(wanted).length > kMostBytes) {
      setFound(null);
      if (wanted) setProblem("At most 200 bytes.");
      return;
    }
    const stop = new AbortController();
    const timer = window.setTimeout(async () => {
      try {
        setFound((await look<"/api/v1/search">(`/api/v1/search${query({ q: wanted })}`, stop.signal)).items);
      } catch (error) {
        if (stop.signal.aborted) return;
        if (!(error instanceof Problem)) throw error;
        setProblem(error.detail || error.title);
      }
    }, kPauseMs);
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [text]);

  const places = [
    ...pagesLike(text.trim()).map((row) => ({ path: row.path, label: row.title, kind: "page", state: "" })),
    ...(found ?? []).map((each) => ({ path: placeOf(each.kind, each.id) ?? "/", label: each.id + (each.title && each.title !== each.id ? ` · ${each.title}` : ""), kind: each.kind, state: each.state })),
  ];
  const open = (path: string | undefined) => {
    if (path === undefined) return;
    dialog.current?.close();
    go(path);
  };
  const press = (event: KeyboardEvent) => {
    if (event.key === "ArrowDown") setAt(Math.min(at + 1, places.length - 1));
    else if (event.key === "ArrowUp") setAt(Math.max(at - 1, 0));
    else if (event.key === "Enter") open(places[at]?.path);
    else return;
    event.preventDefault();
  };
  return (
    <dialog ref={dialog} class="palette" aria-labelledby="palette" onClose={() => (searching.value = false)}>
      <label>
        <span id="palette">Search: an id, or the beginning of a name</span>
        <input
          role="combobox"
          aria-expanded={places.length > 0}
          aria-controls="found"
          aria-activedescendant={places.length > 0 ? `found-${at}` : undefined}
          autocomplete="off"
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
          onKeyDown={press}
        />
      </label>
      {problem && <p role="alert">{problem}</p>}
      <ul id="found" role="listbox" aria-label="What was found">
        {places.map((place, i) => (
          <li key={place.kind + place.label} id={`found-${i}`} role="option" aria-selected={i === at} onClick={() => open(place.path)}>
            <span class="none">{place.kind}</span> {place.label} {place.state && <State word={place.state} />}
          </li>
        ))}
      </ul>
      {found !== null && places.length === 0 && <p class="none" role="status">Nothing has this id, and no name begins so.</p>}
    </dialog>
  );
}
