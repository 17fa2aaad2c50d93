// Looks again and again, one request at a time: none while the tab is hidden, further apart while the
// server is away, never when the reader has switched it off.
import { useEffect, useRef, useState } from "preact/hooks";
import { signal } from "@preact/signals";
import { lookAnew, Problem, type Answer } from "./api";
import { interval } from "./choices";
import { token } from "./session";
import type { AnswerOf, Asked, LookPath } from "./types";

const kMostMs = 30_000;

export interface Live<T> {
  data: T | null; // the last good answer: it stays while another is awaited
  problem: Problem | null;
  /** How often the server has answered, also that it is as it was. */
  looks: number;
  again: () => void;
}

/** When the server last answered; null while it cannot be reached, with the time before. */
export const seen = signal({ at: Date.now(), away: false });
/** How far the server's clock is ahead of the browser's, in milliseconds. */
export const ahead = signal(0);

/** One more each time that the server is there again. */
export const returns = signal(0);

function note(answer: unknown) {
  const now = (answer as { now?: string } | null)?.now;
  if (now) ahead.value = Date.parse(now) - Date.now();
  if (seen.value.away) returns.value += 1;
  seen.value = { at: Date.now(), away: false };
}

/** One more, and everything that is shown is looked at again. */
export const refresh = signal(0);

/** By the path of openapi.json: `useLive<"/api/v1/leases/{name}">("/api/v1/leases/nightly")`. */
export const useLive = <P extends LookPath>(path: Asked<P> | null, factor = 1) => useAnswer<AnswerOf<P>>(path, factor);

export function useAnswer<T>(path: string | null, factor = 1): Live<T> {
  const [data, setData] = useState<T | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [turn, setTurn] = useState(0);
  const [looks, setLooks] = useState(0);
  const shown = useRef(path);
  const known = useRef<Answer<T> | null>(null);
  const asked = useRef("");

  useEffect(() => {
    if (path === null) return;
    if (shown.current !== path) {
      setData(null);
      known.current = null;
    }
    shown.current = path;
    const stop = new AbortController();
    let timer = 0;
    let pause = 0;

    const plan = () => {
      const seconds = interval.peek() * factor;
      if (seconds > 0) timer = window.setTimeout(ask, Math.max(seconds * 1000, pause));
    };
    const ask = async () => {
      if (document.hidden) return plan();
      try {
        const answer = await lookAnew<T>(path, known, stop.signal);
        if (answer) {
          known.current = answer;
          note(answer.data);
          setData(answer.data);
        } else {
          note(null);
        }
        setLooks((n) => n + 1);
        setProblem(null);
        pause = 0;
      } catch (error) {
        if (stop.signal.aborted) return;
        if (!(error instanceof Problem)) throw error;
        if (error.isAway) seen.value = { ...seen.value, away: true };
        setProblem(error);
        pause = Math.min(Math.max(pause * 2, 2000, error.retryAfterMs), kMostMs);
      }
      plan();
    };
    // Switching it off asks nothing.
    const what = JSON.stringify([path, turn, token.value, refresh.value]);
    if (interval.value > 0 || asked.current !== what) void ask();
    asked.current = what;
    return () => {
      stop.abort();
      clearTimeout(timer);
    };
  }, [path, turn, token.value, interval.value, refresh.value]);

  return { data, problem, looks, again: () => setTurn((n) => n + 1) };
}
