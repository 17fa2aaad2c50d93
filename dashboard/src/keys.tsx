// What keys do. Where text is typed, keys are text.
import { useEffect, useRef } from "preact/hooks";
import { signal } from "@preact/signals";
import { interval, keys } from "./choices";
import { go } from "./location";
import { refresh } from "./live";
import { searching } from "./palette";
import { kRows } from "./routes";

export const helping = signal(false);
const kLeadMs = 5000; // who types slowly, and a machine that is busy, need it
let before = 5;

/** The rows of the first list: "j" and "k" go through the links of their first cells. */
function step(by: number) {
  const links = [...document.querySelectorAll<HTMLElement>("main tbody tr td:first-child a")];
  const at = links.indexOf(document.activeElement as HTMLElement);
  links[Math.min(Math.max(at + by, 0), links.length - 1)]?.focus();
}
const press = (label: string) => document.querySelector<HTMLButtonElement>(`.pages button[data-turn="${label}"]`)?.click();

function pause() {
  if (interval.value > 0) before = interval.value;
  interval.value = interval.value > 0 ? 0 : before;
}

const kDo: Record<string, () => void> = {
  "/": () => (searching.value = true),
  "?": () => (helping.value = true),
  j: () => step(1),
  k: () => step(-1),
  "[": () => press("back"),
  "]": () => press("further"),
  r: () => (refresh.value += 1),
  p: pause,
};

export function useKeys() {
  useEffect(() => {
    let leading = 0;
    const onKey = (event: KeyboardEvent) => {
      const at = event.target as Element;
      if (event.ctrlKey || event.metaKey || event.altKey || at.closest("input, select, textarea, dialog")) return;
      if (keys.value === "off") return;
      if (event.key === "g") {
        leading = Date.now();
        return;
      }
      const row = Date.now() - leading < kLeadMs ? kRows.find((each) => each.key === event.key) : undefined;
      leading = 0;
      if (row) return go(row.path);
      const what = kDo[event.key];
      if (!what) return;
      event.preventDefault();
      what();
    };
    addEventListener("keydown", onKey);
    return () => removeEventListener("keydown", onKey);
  }, []);
}

const kHelp: [string, string][] = [
  ["/", "search"], ["g and a letter", "to a page"], ["j, k", "the next row, the one before"], ["Enter", "opens it"],
  ["[, ]", "the page before, the next one"], ["r", "looks again"], ["p", "stops and starts looking again by itself"], ["?", "this help"],
];

export function Help() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby="help" onClose={() => (helping.value = false)}>
      <h2 id="help">Keys</h2>
      <dl class="keys">
        {kHelp.map(([key, what]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{what}</dd></div>)}
        {kRows.filter((row) => row.key).map((row) => <div key={row.path}><dt><kbd>g {row.key}</kbd></dt><dd>{row.title}</dd></div>)}
      </dl>
      <label>
        Single keys{" "}
        <select value={keys.value} onChange={(event) => (keys.value = event.currentTarget.value)}>
          <option value="on">on</option>
          <option value="off">off</option>
        </select>
      </label>
      <p class="buttons"><button type="button" onClick={() => dialog.current?.close()}>Close</button></p>
    </dialog>
  );
}
