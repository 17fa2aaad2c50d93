// Why a thing is as it is, in the server's words, and what can be done about it.
import { useLive } from "../live";
import { href } from "../location";
import { ActButton, type Deed } from "./act";
import { Command, State, Trouble } from "./bits";
import { Time } from "./time";
import { enc, quoted } from "./words";

interface Action {
  act: string;
  title: string;
  scope: string;
  allowed: boolean;
  danger: boolean;
  method: "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  body: Record<string, unknown>;
  command: string;
}

export interface Explanation {
  kind: string;
  id: string;
  state: string;
  sentence: string;
  because: { code: string; text: string; since?: string; until?: string; link?: string }[];
  next: { text: string; at?: string };
  actions: Action[];
  docs: string;
}

/** What an act brings about, in the words of whoever will be asked why they did it. */
function effectOf(action: Action, name: string): string {
  const force = action.body["force"] === true;
  switch (action.act) {
    case "lease.break":
      return force
        ? `${name} is given to the next one at once, while its holder may believe that it still has it: only those who check fences are safe.`
        : `Its holder cannot renew any more; at its deadline ${name} is free, and whoever waits longest gets it.`;
    case "topic.pause":
      return "Messages are still taken and kept, but handed out to nobody. What is in somebody's hands may be finished.";
    case "topic.resume":
      return "Workers that ask get messages from now on.";
    case "message.redrive":
      return "It becomes ready now, with all of its attempts.";
    case "message.discard":
      return "It is gone for good, with its payload.";
    case "timer.cancel":
      return "It never fires.";
    case "job.trigger":
      return "It runs once now, also when it is paused or disabled.";
    case "job.pause":
      return "Nothing is due until somebody resumes it.";
    case "job.resume":
      return "It runs by its schedule from now on.";
    case "seat.revoke":
      return force
        ? "The seat goes to the next one at once, while its holder may believe in it until its deadline."
        : "Its holder's heartbeats are refused from now on; the seat is free when its deadline has passed.";
    case "license.revoke":
      return "That is final: nobody gets a seat of it any more.";
    case "license.change":
      return action.body["suspended"] === true ? "Heartbeats and new seats are refused until it is resumed." : "Seats are given again.";
    default:
      return "";
  }
}

/** Acts that anybody may do with their own things, as often as they like: no reason, no record. */
const kOffRecord = new Set(["subscription.test", "timer.cancel"]);
const kUndo: Record<string, string> = { "topic.pause": "topic.resume", "job.pause": "job.resume" };

function deedOf(action: Action, why: Explanation, name: string): Deed {
  const letters = action.act.startsWith("message.");
  return {
    title: action.title,
    act: action.act,
    // What becomes of dead letters is on record by their topic.
    object: letters ? undefined : why.id,
    onRecord: !kOffRecord.has(action.act),
    scope: action.scope,
    effect: effectOf(action, name),
    reasonField: kOffRecord.has(action.act) ? null : letters ? "because" : "reason",
    needsReason: (action.danger && !kOffRecord.has(action.act)) || action.act.endsWith(".pause") || action.act === "lease.break",
    typed: action.danger ? name : undefined,
    send: () => ({ method: action.method, path: action.path, body: action.body }),
    undo: kUndo[action.act] ? () => undoOf(action) : undefined,
    command: action.command,
  };
}

function undoOf(action: Action) {
  return action.act === "topic.pause"
    ? { method: "PATCH" as const, path: action.path, body: { paused: false } }
    : { method: "POST" as const, path: action.path.replace(/pause$/, "resume"), body: {} };
}

/** `name` is what is typed where an act cannot be taken back; `done` looks again at what the page shows. */
export function Why({ kind, id, name, done }: { kind: string; id: string; name: string; done: () => void }) {
  const live = useLive<Explanation>(`/api/v1/why/${kind}/${enc(id)}`, 0.4);
  const why = live.data;
  if (!why) return live.problem && !live.problem.isAway ? <Trouble problem={live.problem} again={live.again} /> : <p class="skeleton" aria-busy="true">Looking…</p>;
  const links = why.because.filter((cause) => cause.link);
  return (
    <section class="why" aria-label="Why">
      <p class="sentence"><State word={why.state} /> <span data-sentence>{why.sentence}</span></p>
      <p>
        <strong>Next</strong> <span data-next>{why.next.text}</span> {why.next.at && <Time at={why.next.at} />}
      </p>
      {links.map((cause) => (
        <p key={cause.link}><a href={href(cause.link ?? "")}>{cause.link}</a></p>
      ))}
      <Command line={`tenure why ${kind} ${quoted(id)}`} />
      {why.actions.length > 0 && (
        <div class="acts">
          {why.actions.map((action) => (
            <ActButton
              key={action.title}
              deed={deedOf(action, why, name)}
              done={() => {
                live.again();
                done();
              }}
            />
          ))}
        </div>
      )}
    </section>
  );
}
