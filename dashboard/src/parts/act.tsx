// A button that changes something, and the dialog that is asked before. Only the dialog's own button
// sends it; one key for all tries, so that it happens once.
import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { act, Problem, query, type Act } from "../api";
import { refresh } from "../live";
import { href } from "../location";
import { may } from "../session";
import { Command, Trouble } from "./bits";
import { quoted } from "./words";

export type Values = Record<string, string>;
export interface Input {
  name: string;
  title: string;
  value: string;
  options?: [string, string][]; // what is sent, what is shown; else it is a text
  /** Whether what was typed can be sent. */
  fits?: (text: string) => boolean;
}

export interface Deed {
  title: string; // "Break nightly-report"
  of?: string; // what it is done to, where the button alone does not say it
  act: string; // as the audit names it
  object?: string | undefined; // the same
  onRecord?: boolean; // false: the audit has nothing of it
  scope: string;
  effect: string;
  /** What has to be said besides a reason. */
  inputs?: Input[];
  send: (values: Values) => Act;
  command: string | ((values: Values) => string);
  /** Where the reason stands in what is sent; null: it takes none. */
  reasonField?: "reason" | "because" | null;
  needsReason?: boolean;
  /** What has to be typed, where the act cannot be taken back. */
  typed?: string | undefined;
  /** Says what would be changed, before it is. */
  preview?: () => Promise<string>;
  /** What the next step sends besides, when there is more of it to do. */
  more?: (answer: unknown) => Record<string, unknown> | null;
  told?: (answer: unknown) => string;
  /** What is so by now, when the answer is that nothing was changed. */
  unchanged?: (answer: unknown) => string | null;
  undo?: (() => Act) | undefined;
}

const kMaxReason = 500; // bytes, as the server counts
const sizeOf = (text: string) => new TextEncoder().encode(text).length;

/** What is asked about now. The frame shows it: the button may go while it is, when the page's acts change. */
const asking = signal<{ deed: Deed; key: number } | null>(null);
let asked = 0;

export function ActButton({ deed }: { deed: Deed }) {
  const allowed = may(deed.scope);
  const why = allowed ? "" : `The token lacks the scope ${deed.scope}`;
  return (
    <>
      <button
        type="button"
        class={deed.typed ? "danger" : ""}
        disabled={!allowed}
        title={why}
        aria-label={deed.of ? `${deed.title} ${deed.of}…` : undefined}
        onClick={() => (asking.value = { deed, key: ++asked })}
      >
        {deed.title}…
      </button>
      {!allowed && <small class="none">{why}</small>}
    </>
  );
}

export function AskedAct() {
  const now = asking.value;
  if (!now) return null;
  // A dialog is told late that it was closed: by then another one may be open.
  const close = () => {
    if (asking.value === now) asking.value = null;
  };
  return <ActDialog key={now.key} deed={now.deed} close={close} />;
}

function withReason(what: Act, field: Deed["reasonField"], reason: string): Act {
  if (!field || !reason) return what;
  if (what.method === "DELETE") return { ...what, path: what.path + query({ reason }) };
  return { ...what, body: { ...(what.body as object), [field]: reason } };
}

function commandOf(deed: Deed, values: Values, reason: string): string {
  const line = typeof deed.command === "string" ? deed.command : deed.command(values);
  return reason ? line.replace("…", quoted(reason)) : line;
}

function Asked({ input, value, change }: { input: Input; value: string; change: (value: string) => void }) {
  const { title, options } = input;
  return (
    <label>
      {title}
      {options ? (
        <select value={value} onChange={(event) => change(event.currentTarget.value)}>
          {options.map(([sent, shown]) => <option key={sent} value={sent}>{shown}</option>)}
        </select>
      ) : (
        <input value={value} autocomplete="off" spellcheck={false} onInput={(event) => change(event.currentTarget.value.trim())} />
      )}
    </label>
  );
}

/** Whatever is shown by now, it may be of what was changed: the page may be another one than that of the button. */
const done = () => (refresh.value += 1);

function ActDialog({ deed: given, close }: { deed: Deed; close: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  // What was asked about is what is sent, whatever the page shows meanwhile.
  const [deed] = useState(given);
  const [key] = useState(() => crypto.randomUUID());
  const [reason, setReason] = useState("");
  const [typed, setTyped] = useState("");
  const [values, setValues] = useState<Values>(() => Object.fromEntries((given.inputs ?? []).map(({ name, value }) => [name, value])));
  const [preview, setPreview] = useState("");
  const [under, setUnder] = useState(false);
  const [result, setResult] = useState<string | null>(null);
  const [changed, setChanged] = useState(true);
  const [problem, setProblem] = useState<Problem | null>(null);
  const stopped = useRef(false);
  // Before anything is painted: a key that is pressed next belongs to the dialog.
  useLayoutEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    const caught = (error: unknown) => {
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
    };
    deed.preview?.().then(setPreview, caught);
  }, []);

  const field = deed.reasonField === undefined ? "reason" : deed.reasonField;
  const isLong = sizeOf(reason.trim()) > kMaxReason;
  const ready = !under && !isLong && (!deed.needsReason || reason.trim() !== "") && (!deed.typed || typed === deed.typed) && (deed.inputs ?? []).every(({ name, fits }) => !fits || fits(values[name] ?? ""));
  const unknown = problem?.slug === "outcome-unknown" || problem?.isAway;

  const attempt = async (what: () => Promise<void>) => {
    setUnder(true);
    setProblem(null);
    try {
      await what();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
    }
    setUnder(false);
  };
  const send = () =>
    attempt(async () => {
      let what = withReason(deed.send(values), field, reason.trim());
      let text = "";
      let not: string | null = null;
      for (let step = 0; ; ++step) {
        const answer = await act(what.method === "DELETE" || what.method === "PUT" ? what : { ...what, key: step ? `${key}-${step}` : key });
        text = [text, deed.told?.(answer) ?? ""].filter(Boolean).join(", ");
        not = deed.unchanged?.(answer) ?? null;
        const next = deed.more?.(answer);
        if (!next || stopped.current) break;
        what = { ...what, body: { ...(what.body as object), ...next } };
        setPreview(`${text}…`);
      }
      setChanged(not === null);
      setResult(not !== null ? `Nothing was changed. ${not}` : text ? `Done: ${text}.` : "Done.");
      done();
    });
  const undo = () =>
    attempt(async () => {
      if (deed.undo) await act(withReason({ ...deed.undo(), key: `${key}-undo` }, field, "taken back"));
      setResult("Undone.");
      done();
    });

  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="deed">
      <h2 id="deed">{deed.title}{deed.of ? ` ${deed.of}` : ""}?</h2>
      {result === null ? (
        <>
          <p>{deed.effect}</p>
          {preview && <p role="status">{preview}</p>}
          {(deed.inputs ?? []).map((input) => (
            <Asked key={input.name} input={input} value={values[input.name] ?? ""} change={(value) => setValues({ ...values, [input.name]: value })} />
          ))}
          {field && (
            <label>
              Reason, for the audit{deed.needsReason ? "" : " (if you like)"}
              <input value={reason} maxLength={kMaxReason} onInput={(event) => setReason(event.currentTarget.value)} />
              {isLong && <span role="status">At most {kMaxReason} bytes.</span>}
            </label>
          )}
          {deed.typed && (
            <label>
              Type <code>{deed.typed}</code> to go on
              <input value={typed} autocomplete="off" spellcheck={false} onInput={(event) => setTyped(event.currentTarget.value)} />
            </label>
          )}
          <Command line={commandOf(deed, values, reason.trim())} />
        </>
      ) : (
        <p role="status">
          {result} {changed && deed.onRecord !== false && <a href={href("/audit" + query({ act: deed.act, object: deed.object }))} onClick={() => dialog.current?.close()}>See it in the audit</a>}
        </p>
      )}
      {problem && <Trouble problem={problem} />}
      {problem?.status === 401 && <p>Nothing was changed. Close this, sign in again, and ask once more.</p>}
      {unknown && <p>Whether it happened is not known. Asking again is safe: it happens once.</p>}
      <p class="buttons">
        {under && deed.more && <button type="button" onClick={() => (stopped.current = true)}>Stop</button>}
        {result !== null && changed && deed.undo && result !== "Undone." && <button type="button" disabled={under} onClick={undo}>Undo</button>}
        <button type="button" onClick={() => dialog.current?.close()}>{result === null ? "Cancel" : "Close"}</button>
        {result === null && (
          <button type="button" class={deed.typed ? "danger" : "main"} disabled={!ready} onClick={send}>
            {unknown ? "Ask again" : deed.title}
          </button>
        )}
      </p>
    </dialog>
  );
}
