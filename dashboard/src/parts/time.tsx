// Times are shown exact, in the reader's zone, and as an age by the server's clock.
import { useEffect, useState } from "preact/hooks";
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

function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now + ahead.value;
}

export function Time({ at }: { at: string | null | undefined }) {
  const now = useNow();
  if (!at) return <span class="none">–</span>;
  const gone = now - Date.parse(at);
  return (
    <time dateTime={at}>
      {exact(at)} <span class="age">{gone >= 0 ? `${span(gone)} ago` : `in ${span(gone)}`}</span>
    </time>
  );
}
