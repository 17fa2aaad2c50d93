// Lines of figures over time, drawn as SVG. What a line says is said in words and in a table, too.
import { useState } from "preact/hooks";
import { exact } from "./time";
import type { AnswerOf } from "../types";

type Values = (number | null)[];

const kWide = 600;
const kHigh = 120;

/** The pieces of a line: a gap in the figures is a gap in the line. */
function pieces(values: Values, wide: number, high: number, most: number): string {
  const step = wide / Math.max(values.length - 1, 1);
  let path = "";
  let pen = "M";
  values.forEach((value, i) => {
    if (value === null) {
      pen = "M";
      return;
    }
    path += `${pen}${(i * step).toFixed(1)} ${(high - (value / most) * (high - 2) - 1).toFixed(1)}`;
    pen = "L";
  });
  return path;
}

const known = (values: Values) => values.filter((value): value is number => value !== null);

export function Sparkline({ values }: { values: Values }) {
  const all = known(values);
  if (all.length < 2) return null;
  return (
    <svg class="spark" viewBox="0 0 80 20" width="80" height="20" aria-hidden="true">
      <path d={pieces(values, 80, 20, Math.max(...all, 1))} />
    </svg>
  );
}

interface Line {
  name: string;
  title: string;
  scale: number;
  unit: string;
}
const kLines: Line[] = [
  { name: "http.requests_per_1000s", title: "requests", scale: 1000, unit: "/s" },
  { name: "http.errors_per_1000s", title: "errors", scale: 1000, unit: "/s" },
  { name: "http.p99_us", title: "p99", scale: 1000, unit: " ms" },
];

/** Requests, errors and latency, each with a line of its own dash and its last figure beside it. */
export function Chart({ series }: { series: NonNullable<AnswerOf<"/api/v1/overview">["series"]> }) {
  const [table, setTable] = useState(false);
  const begin = series.from ? Date.parse(series.from) : 0;
  const lines = kLines.map((line) => ({ ...line, values: series.values[line.name] ?? [] })).filter(({ values }) => known(values).length > 0);
  if (lines.length === 0) return <p class="none">This process has no figures yet.</p>;
  return (
    <figure class="chart">
      {lines.map(({ name, title, scale, unit, values }, i) => {
        const all = known(values);
        const last = (all.at(-1) ?? 0) / scale;
        const most = Math.max(...all) / scale;
        return (
          <div key={name} class="line">
            <p>{title} <strong>{last.toFixed(1)}{unit}</strong> <span class="none">at most {most.toFixed(1)}{unit}</span></p>
            <svg viewBox={`0 0 ${kWide} ${kHigh}`} preserveAspectRatio="none" aria-hidden="true">
              <path class={`dash${i}`} d={pieces(values, kWide, kHigh, Math.max(...all, 1))} />
            </svg>
          </div>
        );
      })}
      <figcaption class="small">
        Of this process{series.since && <>, since {exact(series.since)}</>}; a value each {series.step_ms / 1000} s.{" "}
        <button type="button" onClick={() => setTable(!table)}>{table ? "Hide the table" : "As a table"}</button>
      </figcaption>
      {table && (
        <div class="table">
          <table>
            <thead><tr><th scope="col">Time</th>{lines.map((line) => <th key={line.name} scope="col" class="number">{line.title}</th>)}</tr></thead>
            <tbody>
              {(lines[0]?.values ?? []).map((_, i) => i).reverse().slice(0, 60).map((i) => (
                <tr key={i}>
                  <td data-title="Time">{exact(new Date(begin + i * series.step_ms).toISOString())}</td>
                  {lines.map(({ name, title, values, scale, unit }) => (
                    <td key={name} data-title={title} class="number">{values[i] == null ? "–" : `${((values[i] ?? 0) / scale).toFixed(1)}${unit}`}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </figure>
  );
}
