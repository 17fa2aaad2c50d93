// The first page: what an operator must know, figures, the last hour, processes.
import { useState } from "preact/hooks";
import { Copy, State } from "../../parts/bits";
import { Chart, Sparkline } from "../../parts/chart";
import { Page, Shown } from "../../parts/page";
import type { Row } from "../../parts/row";
import { Time } from "../../parts/time";
import { useLive } from "../../live";
import { href } from "../../location";
import { may, me } from "../../session";
import type { AnswerOf } from "../../types";

/** What stands on the first page, by name; the rest is told by the pages of its capability. */
const kFigures: [string, string, string, string][] = [
  ["sessions.active", "Sessions active", "/sessions", "sessions"],
  ["leases.held", "Leases held", "/leases", "leases"],
  ["seats.used", "Seats in use", "/licenses", "seats"],
  ["messages.ready", "Messages ready", "/topics", "messages"],
  ["messages.delayed", "Messages delayed", "/topics", "messages"],
  ["messages.dead", "Dead letters", "/dead-letters", "messages"],
  ["queues.ready", "Queue sessions ready", "/queues", "queues"],
  ["queues.parked", "Queue sessions parked", "/queues", "queues"],
  ["usage.unsent", "Usage unsent", "/usage", "usage"],
  ["jobs.jobs", "Jobs", "/jobs", "jobs"],
];

type Board = AnswerOf<"/api/v1/overview">;

export const Processes = ({ instances }: { instances: Board["instances"] }) => (
  <div class="table">
    <table>
      <thead><tr><th scope="col">Process</th><th scope="col">Version</th><th scope="col">Seen</th><th scope="col" class="number">Requests/s</th><th scope="col">Workers</th></tr></thead>
      <tbody>
        {instances.map((each) => (
          <tr key={each.instance}>
            <td data-title="Process"><a href={href(`/instances/${encodeURIComponent(each.instance)}`)}><code>{each.instance}</code></a>{each.instance === me.value?.instance && " (this one)"}</td>
            <td data-title="Version">{each.version}</td>
            <td data-title="Seen">{each.left_at ? <State word="left" /> : <Time at={each.last_seen_at} />}</td>
            <td data-title="Requests/s" class="number">{each.requests_per_second.toFixed(1)}</td>
            <td data-title="Workers">{each.workers ? "on" : "off"}</td>
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

function Attention({ board }: { board: Board }) {
  return (
    <section class="attention" aria-label="Attention">
      {board.attention.length === 0 ? (
        <p><State word="ok" /> Nothing needs attention.</p>
      ) : (
        <ul>
          {board.attention.map((each) => (
            <li key={each.name + each.sentence}>
              <State word={each.severity} />
              <div>
                {each.sentence} {each.link && <a href={href(each.link)} aria-label={`Open what ${each.name} is about`}>open ›</a>}
                <div class="small">{each.name}{each.command && <> · <code>{each.command}</code><Copy text={each.command} what="the command" /></>}</div>
              </div>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Figures({ board }: { board: Board }) {
  return (
    <section class="figures" aria-label="Figures">
      {kFigures
        .filter(([, , , part]) => me.value?.parts.includes(part))
        .map(([name, title, path]) => {
          const [part, field] = name.split(".") as [string, string];
          const value = board.figures[part]?.[field];
          if (value === undefined) return null;
          return (
            <a key={name} href={href(path)} class="figure">
              <strong>{value.toLocaleString("en")}{board.capped.includes(name) ? "+" : ""}</strong> {title}
              <Sparkline values={board.series?.values[name] ?? []} />
            </a>
          );
        })}
    </section>
  );
}

function Overview() {
  const [range, setRange] = useState<"1h" | "24h">("1h");
  const live = useLive<"/api/v1/overview">(may("ops:read") ? `/api/v1/overview?range=${range}` : null);
  if (!may("ops:read"))
    return (
      <Page title="Overview">
        <p>The token lacks the scope ops:read, which the overview needs. The menu has what it may read.</p>
      </Page>
    );
  return (
    <Page title="Overview">
      <Shown
        live={live}
        draw={(board) => (
          <>
            <Attention board={board} />
            <p class="small">Figures of all tenants, last counted <Time at={board.counted_at} />; some are counted once a minute.</p>
            <Figures board={board} />
            <h2>Requests</h2>
            <p>
              {(["1h", "24h"] as const).map((each) => (
                <button key={each} type="button" aria-pressed={range === each} onClick={() => setRange(each)}>{each === "1h" ? "1 hour" : "24 hours"}</button>
              ))}
            </p>
            {board.series && <Chart series={board.series} />}
            <h2>Processes</h2>
            <Processes instances={board.instances} />
          </>
        )}
      />
    </Page>
  );
}

export const rows: Row[] = [{ path: "/", title: "Overview", part: null, scope: null, group: "", key: "o", page: Overview }];
