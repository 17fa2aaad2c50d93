// Small things that recur: a state, an id, a value, an error.
import { useState } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { Problem } from "../api";

const kShapes: Record<string, string> = { good: "●", busy: "◐", warn: "▲", bad: "■", off: "○" };
const kTones: Record<string, string> = {
  ok: "good", held: "good", active: "good", acknowledged: "good", done: "good", sent: "good",
  ready: "busy", claimed: "busy", processing: "busy", delayed: "busy", offered: "busy", waiting: "busy",
  warning: "warn", critical: "bad", scheduled: "good", over: "off", left: "off", unhandled: "warn", retrying: "busy", skipped: "off",
  backing_off: "warn", open: "bad", disabled: "off", draining: "warn", broken: "warn", paused: "warn", frozen: "warn", guarded: "warn", suspended: "warn", lapsed: "warn", queued: "warn",
  failed: "bad", dead: "bad", revoked: "bad", expired: "bad", unavailable: "bad", refused: "bad",
};

/** A state is a word, a shape and a colour: any one of them is enough. */
export function State({ word }: { word: string }) {
  const tone = kTones[word] ?? "off";
  return (
    <span class={"state " + tone}>
      <span aria-hidden="true">{kShapes[tone]}</span> {word}
    </span>
  );
}

export function Copy({ text, what }: { text: string; what: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 1500);
  };
  return (
    <button type="button" class="copy" aria-label={`Copy ${what}`} title={`Copy ${what}`} onClick={copy}>
      {copied ? "copied" : "copy"}
    </button>
  );
}

/** Shortened in the middle where there is no room, copied whole. */
export function Id({ id }: { id: string }) {
  const short = id.length > 20 ? `${id.slice(0, 8)}…${id.slice(-6)}` : id;
  return (
    <span class="id" title={id}>
      {short}
      <Copy text={id} what={id} />
    </span>
  );
}

export function Command({ line }: { line: string }) {
  return (
    <p class="command">
      <code>$ {line}</code>
      <Copy text={line} what="the command" />
    </p>
  );
}

export function Value({ value }: { value: unknown }) {
  if (value === null || value === undefined || value === "") return <span class="none">–</span>;
  if (typeof value === "object") return <pre>{JSON.stringify(value, null, 2)}</pre>;
  return <span>{String(value)}</span>;
}

export function Trouble({ problem, again }: { problem: Problem; again?: () => void }) {
  return (
    <div class="trouble" role="alert">
      <p>
        <strong>{problem.title}</strong>
      </p>
      {problem.detail && <p>{problem.detail}</p>}
      {problem.fields.length > 0 && (
        <ul>
          {problem.fields.map((each) => (
            <li key={each.field}>
              <code>{each.field}</code> {each.message}
            </li>
          ))}
        </ul>
      )}
      {problem.requestId && (
        <p class="small">
          Request <Id id={problem.requestId} />
        </p>
      )}
      {again && (
        <button type="button" onClick={again}>
          Try again
        </button>
      )}
    </div>
  );
}

/** Rows of a thing's fields; what it does not have is not told. */
export function Fields({ rows }: { rows: [string, ComponentChildren][] }) {
  return (
    <dl class="fields">
      {rows.filter(([, value]) => value !== null && value !== undefined && value !== "" && value !== false).map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
