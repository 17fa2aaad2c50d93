// Times are shown exact, in the reader's zone, and as an age by the server's clock.
import { computed, signal } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { zone } from "../choices";
import { ahead } from "../live";

export function exact(iso: string): string {
  const time = new Date(iso);
  if (zone.value === "local") return time.toLocaleString("sv-SE");
  const timeZone = zone.value === "utc" ? "UTC" : zone.value;
  return `${time.toLocaleString("sv-SE", { timeZone })} ${timeZone.split("/").at(-1)?.replaceAll("_", " ")}`;
}

const kUnits: [number, string][] = [
  [86_400_000, "d"],
  [3_600_000, "h"],
  [60_000, "min"],
  [1000, "s"],
];

export function span(ms: number): string {
  const size = Math.abs(ms);
  const [unit, name] = kUnits.find(([unit]) => size >= unit) ?? [1, "ms"];
  return `${Math.round(size / unit)} ${name}`;
}

/** The server's time, second by second while somebody looks: one clock for all times of a page. */
const second = signal(Date.now());
setInterval(() => {
  if (!document.hidden) second.value = Date.now();
}, 1000);
const now = () => second.value + ahead.value;

/** How much is left of a hold that was last renewed at `since`. */
export function Deadline({ since, until }: { since: string; until: string }) {
  const whole = Math.max(Date.parse(until) - Date.parse(since), 1);
  const left = Date.parse(until) - now();
  return <progress class="deadline" max={whole} value={Math.min(Math.max(left, 0), whole)} aria-label={left > 0 ? `${span(left)} left` : "over"} />;
}

/** Only its text is drawn anew, and only when it reads another way. */
function Age({ at }: { at: string }) {
  const text = useMemo(
    () =>
      computed(() => {
        const gone = now() - Date.parse(at);
        if (Math.abs(gone) < 1000) return "now";
        return gone >= 0 ? `${span(gone)} ago` : `in ${span(gone)}`;
      }),
    [at],
  );
  return <span class="age">{text}</span>;
}

export function Time({ at }: { at: string | null | undefined }) {
  if (!at) return <span class="none">–</span>;
  return (
    <time dateTime={at}>
      {exact(at)} <Age at={at} />
    </time>
  );
}
