// Dead letters: what failed for good, and putting it back.
import { List, type Listed } from "../../parts/list";
import { ActButton } from "../../parts/act";
import { Page } from "../../parts/page";
import { Time } from "../../parts/time";
import { useLive } from "../../live";
import { act, query } from "../../api";
import { href, place } from "../../location";

const kDeadLetters: Listed<"/api/v1/dead-letters"> = {
  path: "/api/v1/dead-letters",
  key: (row) => row.id,
  filters: [
    { name: "topic", title: "Topic" },
    { name: "reason", title: "Reason", options: ["failed", "attempts", "crashes"] },
  ],
  columns: [
    { title: "Message", show: (row) => <a href={href(`/messages/${row.id}`)}><code>{row.id.slice(0, 13)}…</code></a> },
    { title: "Topic", show: (row) => row.topic },
    { title: "Reason", show: (row) => row.reason },
    { title: "Attempts", show: (row) => row.attempts, number: true },
    { title: "Died", show: (row) => <Time at={row.died_at} /> },
    { title: "Last error", show: (row) => <span class="error">{row.last_error ?? "–"}</span> },
  ],
  empty: { text: "A dead letter is a message that failed as often as it may, or for good. There is none." },
};

/** What died alike: mostly there is one cause behind a thousand letters. */
function Groups() {
  const topic = place.value.search.get("topic") ?? "";
  const live = useLive<"/api/v1/dead-letters/groups">(`/api/v1/dead-letters/groups${query({ topic })}`);
  const groups = live.data?.items ?? [];
  if (groups.length === 0) return null;
  return (
    <section aria-label="Groups">
      <h2>What died alike{live.data?.capped && " (of 10,000 letters)"}</h2>
      <ul class="tasks">
        {groups.map((group) => (
          <li key={group.topic + group.reason + group.error}>
            <strong>{group.count}</strong> <a href={href(`/dead-letters?topic=${encodeURIComponent(group.topic)}&reason=${group.reason}`)}>{group.topic}</a>, {group.reason}: <span class="error">{group.error || "(no error was given)"}</span>{" "}
            <span class="age">first <Time at={group.first_at} />, last <Time at={group.last_at} /></span>{" "}
            <a href={href(`/messages/${group.id}`)} aria-label={`Open one of ${group.count} of ${group.topic}`}>open one ›</a>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** Acts on all that fit the filters, in steps of the server's largest batch. */
function FilterAct({ redrive }: { redrive: boolean }) {
  const topic = place.value.search.get("topic") ?? "";
  const reason = place.value.search.get("reason") ?? "";
  const verb = redrive ? "redrive" : "discard";
  const which = [topic && `of ${topic}`, reason && `that died of ${reason}`].filter(Boolean).join(" ") || "of all topics";
  if (!redrive && !topic && !reason) return null;
  const body = { ...(topic && { topic }), ...(reason && { reason }) };
  const path = `/api/v1/dead-letters/${verb}`;
  return (
    <ActButton
      deed={{
        title: `${redrive ? "Redrive" : "Discard"} all that fit`,
        act: `message.${verb}`,
        scope: "messages:write",
        effect: redrive ? `All dead letters ${which} become ready now, with all of their attempts.` : `All dead letters ${which} are gone for good, with their payloads.`,
        typed: redrive ? undefined : topic || reason,
        reasonField: "because",
        preview: async () => {
          const found = (await act({ method: "POST", path, body: { ...body, dry_run: true } })) as { found: number; has_more: boolean; ids: string[] };
          return `${found.found}${found.has_more ? " or more" : ""} fit. The first: ${found.ids.slice(0, 5).map((id) => id.slice(0, 13) + "…").join(", ") || "none"}`;
        },
        send: () => ({ method: "POST", path, body }),
        more: (answer) => ((answer as { has_more?: boolean; found?: number } | null)?.has_more && (answer as { found: number }).found > 0 ? {} : null),
        told: (answer) => `${(answer as { found?: number } | null)?.found ?? 0} ${redrive ? "redriven" : "discarded"}`,
        command: `tenure message ${verb}${topic && ` --topic ${topic}`}${reason && ` --reason ${reason}`}`,
      }}
    />
  );
}

export const DeadLetters = () => (
  <Page title="Dead letters" acts={<><FilterAct key={"r" + place.value.search} redrive /><FilterAct key={"d" + place.value.search} redrive={false} /></>}>
    <List of={kDeadLetters}><Groups /></List>
  </Page>
);
