// A button that changes something, and the dialog that is asked before. Only the dialog's own button
// sends it; one key for all tries, so that it happens once.
import { useEffect, useRef, useState } from "preact/hooks";
import { act, Problem, type Act } from "../api";
import { may } from "../session";
import { Command, Trouble } from "./bits";

export interface Deed {
  title: string; // "Break nightly-report"
  scope: string;
  effect: string;
  send: (reason: string) => Act;
  command: string;
  asksReason?: boolean;
  /** What has to be typed, where the act cannot be taken back. */
  typed?: string;
  takesKey?: boolean;
}

export function ActButton({ deed, done }: { deed: Deed; done: () => void }) {
  const [open, setOpen] = useState(false);
  const allowed = may(deed.scope);
  return (
    <>
      <button
        type="button"
        class={deed.typed ? "danger" : ""}
        disabled={!allowed}
        title={allowed ? "" : `The token lacks the scope ${deed.scope}`}
        onClick={() => setOpen(true)}
      >
        {deed.title}…
      </button>
      {open && <ActDialog deed={deed} close={() => setOpen(false)} done={done} />}
    </>
  );
}

function ActDialog({ deed, close, done }: { deed: Deed; close: () => void; done: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [key] = useState(() => crypto.randomUUID());
  const [reason, setReason] = useState("");
  const [typed, setTyped] = useState("");
  const [under, setUnder] = useState(false);
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => dialog.current?.showModal(), []);

  const ready = !under && (!deed.asksReason || reason.trim() !== "") && (!deed.typed || typed === deed.typed);
  const unknown = problem?.slug === "outcome-unknown" || problem?.isAway;
  const send = async () => {
    setUnder(true);
    try {
      const what = deed.send(reason.trim());
      await act(deed.takesKey ? { ...what, key } : what);
      close();
      done();
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
      setUnder(false);
    }
  };

  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="deed">
      <h2 id="deed">{deed.title}?</h2>
      <p>{deed.effect}</p>
      {deed.asksReason && (
        <label>
          Reason, for the audit
          <input value={reason} maxLength={200} onInput={(event) => setReason(event.currentTarget.value)} />
        </label>
      )}
      {deed.typed && (
        <label>
          Type <code>{deed.typed}</code> to go on
          <input value={typed} autocomplete="off" onInput={(event) => setTyped(event.currentTarget.value)} />
        </label>
      )}
      <Command line={deed.command} />
      {problem && <Trouble problem={problem} />}
      <p class="buttons">
        <button type="button" onClick={() => dialog.current?.close()}>
          Cancel
        </button>
        <button type="button" class={deed.typed ? "danger" : "main"} disabled={!ready} onClick={send}>
          {unknown ? "Ask again" : deed.title}
        </button>
      </p>
    </dialog>
  );
}
