// A payload is shown when it is asked for; values of fields that are named like secrets, when they are
// asked for once more.
import { useState } from "preact/hooks";
import { Value } from "./bits";

const kSecret = /pass(word|phrase)?|secret|token|api_?key|authorization|credential|private/i;

function masked(value: unknown): { value: unknown; hidden: boolean } {
  if (Array.isArray(value)) {
    const all = value.map(masked);
    return { value: all.map((each) => each.value), hidden: all.some((each) => each.hidden) };
  }
  if (value === null || typeof value !== "object") return { value, hidden: false };
  let hidden = false;
  const fields = Object.entries(value).map(([name, field]) => {
    if (kSecret.test(name) && field !== null) {
      hidden = true;
      return [name, "••••••"];
    }
    const inner = masked(field);
    hidden ||= inner.hidden;
    return [name, inner.value];
  });
  return { value: Object.fromEntries(fields), hidden };
}

/** `brief`: in a list, where its column has a title. */
export function Payload({ value, brief }: { value: unknown; brief?: boolean }) {
  const [open, setOpen] = useState(false);
  const [whole, setWhole] = useState(false);
  if (!open) return <p><button type="button" onClick={() => setOpen(true)}>{brief ? "Show" : "Show the payload"}</button></p>;
  const shown = whole ? { value, hidden: false } : masked(value);
  return (
    <section aria-label="Payload">
      {!brief && <h2>Payload</h2>}
      <Value value={typeof shown.value === "string" ? JSON.stringify(shown.value) : shown.value} />
      {shown.hidden && (
        <p><button type="button" onClick={() => setWhole(true)}>Show what is named like a secret</button></p>
      )}
    </section>
  );
}
