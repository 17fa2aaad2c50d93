// Why a thing is as it is, in the server's words, and what can be done about it.
import { useAnswer } from "../live";
import { href, place } from "../location";
import { ActButton, type Deed } from "./act";
import { Command, State, Trouble } from "./bits";
import { Time } from "./time";
import { enc, quoted } from "./words";
import type { AnswerOf, LookPath } from "../types";

type Explanation = AnswerOf<"/api/v1/why/lease/{name}">;
type Action = Explanation["actions"][number];
/** What the server explains: "lease", "queue-session". */
type Kind = LookPath extends infer P ? (P extends `/api/v1/why/${infer K}/{${string}}` ? K : never) : never;

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
    case "session.end":
      return "It ends now: the user's next request begins another one. What it used until now is billed.";
    case "task.run":
      return `${name} runs now in one process, or once more when it runs already.`;
    case "usage.send":
      return "The records of this window and all later ones go to the receiver; what it has already is not sent again.";
    case "usage.resend":
      return "A thousand of the refused records are sent once more.";
    case "queue.pause":
      return action.body["paused"] === true ? "Nothing is handed out. Messages are still taken; what is in somebody's hands may be finished." : "Sessions are handed out from now on.";
    case "queue.resume":
      return "The message that could not be processed is tried again, with all of its attempts, and then what waits behind it.";
    case "queue.break":
      return "Whatever its holder reports from now on does not count; the session goes to the next accept, while its holder may still work on it.";
    case "queue.skip":
      return "That message goes to the dead letters, and the session goes on behind it. `tenure queue rewind` puts it back.";
    case "queue.discard":
      return "All messages of the session that are not done are gone.";
    case "license.revoke":
      return "That is final: nobody gets a seat of it any more.";
    case "license.change":
      return action.body["suspended"] === true ? "Heartbeats and new seats are refused until it is resumed." : "Seats are given again.";
    default:
      return "";
  }
}

/** Acts that programs do with their own things, as often as they like: on record only with a reason. */
const kOfPrograms = new Set(["subscription.test", "timer.cancel"]);
const kUndo = new Set(["topic.pause", "job.pause", "queue.pause"]);

/** The audit names a session of a queue by both. */
function objectOf(action: Action, why: Explanation): string | undefined {
  // What becomes of dead letters is on record by their topic, of parked sessions by each of them.
  const many = action.act.startsWith("message.") || action.act === "usage.resend" || (action.act === "queue.resume" && why.kind === "queue");
  if (many) return undefined;
  const ofQueue = /^\/api\/v1\/queues\/([^/]+)\/sessions\/([^/]+)\//.exec(action.path);
  return ofQueue ? `${decodeURIComponent(ofQueue[1] ?? "")}/${ofQueue[2]}` : why.id;
}

interface Step {
  found?: number;
  broken?: boolean;
  changed?: number;
  records?: number;
  windows?: number;
  next_cursor?: string | null;
}
/** What an act on many says of itself. */
function toldOf({ changed, records, windows }: Step): string {
  if (changed !== undefined) return `${changed} changed`;
  if (records !== undefined) return `${records} records`;
  return windows !== undefined ? `${windows} windows` : "";
}

/** What the server answers to who is late. */
function unchangedOf(answer: Step): string | null {
  if (answer.broken === false) return "That grant is over: somebody else has it by now, or nobody.";
  if (answer.found === 0) return "It is no dead letter any more.";
  return null;
}

function deedOf(action: Action, why: Explanation, name: string): Deed {
  const letters = action.act.startsWith("message.");
  return {
    title: action.title,
    act: action.act,
    object: objectOf(action, why),
    scope: action.scope,
    effect: effectOf(action, name),
    reasonField: letters ? "because" : "reason",
    needsReason: action.danger || kOfPrograms.has(action.act) || action.act.endsWith(".pause") || action.act === "lease.break" || action.act.startsWith("queue."),
    typed: action.danger ? name : undefined,
    send: () => ({ method: action.method, path: action.path, body: action.body }),
    more: (answer) => {
      const { changed, next_cursor } = (answer ?? {}) as Step;
      return next_cursor && changed ? { cursor: next_cursor } : null;
    },
    told: (answer) => toldOf((answer ?? {}) as Step),
    unchanged: (answer) => unchangedOf((answer ?? {}) as Step),
    undo: kUndo.has(action.act) ? () => undoOf(action) : undefined,
    command: action.command,
  };
}

function undoOf(action: Action) {
  return action.act !== "job.pause"
    ? { method: "PATCH" as const, path: action.path, body: { paused: action.body["paused"] !== true } }
    : { method: "POST" as const, path: action.path.replace(/pause$/, "resume"), body: {} };
}

/** `name` is what is typed where an act cannot be taken back. */
export function Why({ kind, id, name }: { kind: Kind; id: string; name: string }) {
  const live = useAnswer<Explanation>(`/api/v1/why/${kind}/${enc(id)}`, 0.4);
  const why = live.data;
  if (!why) return live.problem && !live.problem.isAway ? <Trouble problem={live.problem} again={live.again} /> : <p class="skeleton" aria-busy="true">Looking…</p>;
  const links = why.because.filter((cause) => cause.link && cause.link !== place.value.path);
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
            <ActButton key={action.title} deed={deedOf(action, why, name)} />
          ))}
        </div>
      )}
    </section>
  );
}
