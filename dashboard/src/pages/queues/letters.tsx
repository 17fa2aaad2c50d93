// What could not be processed: summed up by cause, and letter by letter.
import { List, type Listed } from "../../parts/list";
import { ActButton, type Deed } from "../../parts/act";
import { State } from "../../parts/bits";
import { Time } from "../../parts/time";
import { enc, quoted } from "../../parts/words";
import { useLive } from "../../live";
import { act } from "../../api";
import { href } from "../../location";

interface Changed {
  found: number;
  changed: number;
  next_cursor: string | null;
}

/** An act on all letters that fit, in steps: the server answers where the next one begins. */
function onLetters(queue: string, path: string, fields: Record<string, unknown>, deed: Omit<Deed, "scope" | "object" | "needsReason" | "preview" | "more" | "told" | "send">): Deed {
  const target = `/api/v1/queues/${enc(queue)}${path}`;
  return {
    ...deed,
    object: undefined,
    scope: "queues:operate",
    needsReason: true,
    preview: async () => {
      const { found, next_cursor } = (await act({ method: "POST", path: target, body: { ...fields, reason: "a look", dry_run: true } })) as Changed;
      return `${found}${next_cursor ? " or more" : ""} fit.`;
    },
    send: () => ({ method: "POST", path: target, body: fields }),
    more: (answer) => ((answer as Changed).next_cursor ? { cursor: (answer as Changed).next_cursor } : null),
    told: (answer) => `${(answer as Changed).changed} of ${(answer as Changed).found} changed`,
  };
}

/** Mostly there is one cause behind a thousand parked sessions. */
export function Causes({ queue }: { queue: string }) {
  const live = useLive<"/api/v1/queues/{queue}/dead-letters/summary">(`/api/v1/queues/${enc(queue)}/dead-letters/summary?state=parked`);
  const causes = live.data?.items ?? [];
  if (causes.length === 0) return null;
  return (
    <section aria-label="Causes">
      <h2>What stopped sessions</h2>
      <ul class="tasks">
        {causes.map((cause) => (
          <li key={cause.death_reason + cause.error_class}>
            <strong>{cause.count}</strong> {cause.death_reason}: <span class="error">{cause.error_class || "(no error was given)"}</span>{" "}
            <span class="age">first <Time at={cause.oldest} />, last <Time at={cause.newest} /></span>{" "}
            <ActButton
              deed={onLetters(queue, "/resume", { death_reason: cause.death_reason, ...(cause.error_class && { error_class: cause.error_class }) }, {
                title: "Resume these",
                of: `of ${queue}`,
                act: "queue.resume",
                effect: `Sessions of ${queue} that ${cause.error_class || cause.death_reason} has stopped try that message again, and go on.`,
                command: `tenure queue resume ${quoted(queue)} --died-of ${cause.death_reason}${cause.error_class && ` --error-class ${quoted(cause.error_class)}`} --reason …`,
              })}
            />
          </li>
        ))}
      </ul>
    </section>
  );
}

const lettersOf = (queue: string): Listed<"/api/v1/queues/{queue}/dead-letters"> => ({
  path: `/api/v1/queues/${enc(queue)}/dead-letters`,
  query: { state: "skipped" },
  cursor: "letters",
  key: (row) => row.id,
  columns: [
    { title: "Session", show: (row) => <a href={href(`/queues/${enc(queue)}/${row.session}`)}>{row.name || row.key}</a> },
    { title: "Sequence", show: (row) => row.sequence, number: true },
    { title: "Died of", show: (row) => <State word={row.death_reason} /> },
    { title: "Died", show: (row) => <Time at={row.died_at} /> },
    { title: "Sent again", show: (row) => <Time at={row.replayed_at} /> },
    { title: "Error", show: (row) => <span class="error">{row.error || "–"}</span> },
  ],
  empty: { text: "No message of it was passed over." },
});

/** What was passed over; what is parked stands in its session. */
export function Letters({ queue }: { queue: string }) {
  const word = quoted(queue);
  return (
    <section aria-label="Dead letters">
      <h2>Passed over</h2>
      <div class="acts">
        <ActButton
          deed={onLetters(queue, "/dead-letters/replay", { mode: "append" }, {
            title: "Redrive all",
            of: `of ${queue}`,
            act: "queue.replay",
            effect: "Each is sent once more, behind what waits in its session, as a new message.",
            command: `tenure queue redrive ${word} --reason …`,
          })}
        />
        <ActButton
          deed={onLetters(queue, "/dead-letters/discard", {}, {
            title: "Discard all",
            of: `of ${queue}`,
            act: "queue.discard",
            effect: "All messages that were passed over are gone for good.",
            typed: queue,
            command: `tenure queue forget ${word} --reason …`,
          })}
        />
      </div>
      <List of={lettersOf(queue)} />
    </section>
  );
}
