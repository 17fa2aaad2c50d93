// Topics: how full they are, and whether they are paused.
import { List, type Listed } from "../../parts/list";
import { ActButton, type Deed, type Values } from "../../parts/act";
import { Fields, State } from "../../parts/bits";
import { Page, Shown } from "../../parts/page";
import { Time, span } from "../../parts/time";
import { Why } from "../../parts/why";
import { enc, quoted } from "../../parts/words";
import { useLive } from "../../live";
import { href } from "../../location";
import type { AnswerOf } from "../../types";

type Topic = AnswerOf<"/api/v1/topics/{topic}">;

const kTopics: Listed<"/api/v1/topics"> = {
  path: "/api/v1/topics",
  key: (row) => row.name,
  columns: [
    { title: "Topic", show: (row) => <a href={href(`/topics/${enc(row.name)}`)}>{row.name}</a> },
    { title: "State", show: (row) => (row.paused ? <State word="paused" /> : <State word="ok" />) },
    { title: "Ready", show: (row) => row.ready, number: true },
    { title: "Claimed", show: (row) => row.claimed, number: true },
    { title: "Dead", show: (row) => (row.dead > 0 ? <a href={href(`/dead-letters?topic=${enc(row.name)}`)}>{row.dead}</a> : 0), number: true },
    { title: "Oldest", show: (row) => (row.oldest_age_ms === null ? "–" : span(row.oldest_age_ms)), number: true },
    { title: "Asked for", show: (row) => <Time at={row.asked_at} /> },
  ],
  empty: {
    text: "A message is work that somebody must do once; its topic says what it is about.",
    curl: (origin) =>
      `curl -X POST ${origin}/api/v1/messages -H 'Content-Type: application/json' -d '{"topic": "mail", "payload": {"to": "ann@example.com"}}'`,
    command: `tenure message enqueue mail '{"to": "ann@example.com"}'`,
  },
};

export const Topics = () => (
  <Page title="Topics">
    <List of={kTopics} />
  </Page>
);

const flagOf = (name: string) => "--" + name.replace(/_ms$/, "").replaceAll("_", "-");
const kWhole = /^[0-9]{1,15}$/;

/** Only what was changed is sent: the rest may be the server's default, and stay it. */
function settingsOf(topic: Topic): Deed {
  const before: Record<string, number> = topic.settings;
  const changed = (values: Values) => Object.entries(values).filter(([name, value]) => value !== String(before[name]));
  return {
    title: "Change settings",
    of: `of ${topic.name}`,
    act: "topic.change",
    object: topic.name,
    scope: "messages:write",
    effect: "They count from now on, also for messages that are there.",
    inputs: Object.entries(topic.settings).map(([name, value]) => ({ name, title: name, value: String(value), fits: (text) => kWhole.test(text) })),
    send: (values) => ({ method: "PATCH", path: `/api/v1/topics/${enc(topic.name)}`, body: Object.fromEntries(changed(values).map(([name, value]) => [name, Number(value)])) }),
    command: (values) => `tenure topic set ${quoted(topic.name)} ${changed(values).map(([name, value]) => flagOf(name) + " " + (name.endsWith("_ms") ? value + "ms" : value)).join(" ")}`,
  };
}

export function TopicPage({ id }: { id: string }) {
  const live = useLive<"/api/v1/topics/{topic}">(`/api/v1/topics/${enc(id)}`, 0.4);
  return (
    <Shown
      live={live}
      draw={(topic) => (
        <Page title={<>Topic {topic.name}</>}>
          <Why kind="topic" id={id} name={id} />
          <Fields
            rows={[
              ["Ready", topic.ready],
              ["Claimed", topic.claimed],
              ["Dead", <a href={href(`/dead-letters?topic=${enc(topic.name)}`)}>{topic.dead}</a>],
              ["Oldest", topic.oldest_age_ms === null ? "–" : span(topic.oldest_age_ms)],
              ["Last asked for", topic.asked_at && <Time at={topic.asked_at} />],
            ]}
          />
          <h2>Settings</h2>
          <Fields rows={Object.entries(topic.settings).map(([name, value]) => [name, name.endsWith("_ms") ? span(value) : value])} />
          <p class="acts"><ActButton key={JSON.stringify(topic.settings)} deed={settingsOf(topic)} /></p>
        </Page>
      )}
    />
  );
}
