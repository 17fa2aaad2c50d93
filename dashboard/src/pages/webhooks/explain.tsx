// Which bots would get a payload, and in which session. It stores nothing.
import { useState } from "preact/hooks";
import { State, Trouble } from "../../parts/bits";
import { act, Problem } from "../../api";

interface Answer {
  bots: { bot: string; matched: boolean; why: string; rule?: string; fell_back?: boolean; sessions?: { key: string; name: string }[] }[];
}

export function Explain() {
  const [event, setEvent] = useState("issues");
  const [payload, setPayload] = useState("");
  const [answer, setAnswer] = useState<Answer | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const ask = async (submitted: SubmitEvent) => {
    submitted.preventDefault();
    setAnswer(null);
    setProblem(null);
    try {
      setAnswer((await act({ method: "POST", path: "/api/v1/webhooks/explain", body: { event, payload: JSON.parse(payload) } })) as Answer);
    } catch (error) {
      if (error instanceof SyntaxError) return setProblem(new Problem(400, "", "That is no JSON", error.message));
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
    }
  };
  return (
    <section aria-label="Explain">
      <h2>Who would get it?</h2>
      <form class="explain" onSubmit={ask}>
        <label>Event<input value={event} onInput={(typed) => setEvent(typed.currentTarget.value.trim())} /></label>
        <label>Payload<textarea rows={4} spellcheck={false} value={payload} onInput={(typed) => setPayload(typed.currentTarget.value)} /></label>
        <button type="submit" disabled={!event || !payload.trim()}>Explain</button>
      </form>
      {problem && <Trouble problem={problem} />}
      {answer && (
        <ul class="tasks" role="status">
          {answer.bots.length === 0 && <li class="none">There is no bot.</li>}
          {answer.bots.map((bot) => (
            <li key={bot.bot}>
              <State word={bot.matched ? "ok" : "off"} /> <strong>{bot.bot}</strong> {bot.why}
              {bot.sessions?.map((session) => <div key={session.key}>session {session.name} <code>{session.key}</code></div>)}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
