// Asks the server. Everything that the page knows comes through `look`, and everything that it does
// goes through `act`.
import { token, signOutBecause } from "./session";
import type { AnswerOf, Asked, LookPath, Query } from "./types";

/** An error as RFC 9457 has it, or a server that does not answer (status 0). */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly slug: string,
    readonly title: string,
    readonly detail: string,
    readonly fields: { field: string; message: string }[] = [],
    readonly requestId = "",
    readonly retryAfterMs = 0,
  ) {
    super(title);
  }
  /** Whether the server could not be asked, rather than had something against it. */
  get isAway() {
    return this.status === 0;
  }
}

/** The page is at `/ui/…`, perhaps below a prefix of a proxy; the API stands beside it. */
export const base = location.pathname.slice(0, location.pathname.indexOf("/ui/") + 1) || "/";

function headers(more: Record<string, string>): Record<string, string> {
  return token.value ? { ...more, Authorization: `Bearer ${token.value}` } : more;
}

async function toProblem(response: Response): Promise<Problem> {
  let body: Record<string, unknown> = {};
  try {
    body = (await response.json()) as Record<string, unknown>;
  } catch {
    // What stands between may answer something that is no problem of ours.
  }
  const text = (key: string) => (typeof body[key] === "string" ? (body[key] as string) : "");
  return new Problem(
    response.status,
    text("type").split(":").at(-1) ?? "",
    text("title") || `The answer was ${response.status}`,
    text("detail"),
    Array.isArray(body["errors"]) ? (body["errors"] as { field: string; message: string }[]) : [],
    text("request_id"),
    Number(response.headers.get("Retry-After") ?? 0) * 1000,
  );
}

async function send(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(base + path.replace(/^\//, ""), init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw new Problem(0, "away", "The server cannot be reached", "What is shown is from before. The page goes on trying.");
  }
  if (response.ok || response.status === 304) return response;
  const problem = await toProblem(response);
  if (problem.status === 401) signOutBecause(problem.detail);
  throw problem;
}

export async function look<P extends LookPath>(path: Asked<P>, signal?: AbortSignal): Promise<AnswerOf<P>> {
  const response = await send(path, { headers: headers({}), cache: "no-store", signal: signal ?? null });
  return (await response.json()) as AnswerOf<P>;
}

export interface Answer<T> {
  data: T;
  tag: string;
}

/** What is there by now; null: what is known is so still. */
export async function lookAnew<T>(path: string, known: { current: Answer<T> | null }, signal: AbortSignal): Promise<Answer<T> | null> {
  const tag = known.current?.tag;
  const response = await send(path, { headers: headers(tag ? { "If-None-Match": tag } : {}), cache: "no-store", signal });
  if (response.status === 304) return null;
  return { data: (await response.json()) as T, tag: response.headers.get("ETag") ?? "" };
}

export interface Act {
  method: "POST" | "PATCH" | "DELETE" | "PUT";
  path: string;
  body?: unknown;
  /** The same for each try of the same act: it happens once. Acts without one are idempotent as they are. */
  key?: string;
}

export async function act(what: Act): Promise<unknown> {
  const more: Record<string, string> = { "Content-Type": "application/json" };
  if (what.key) more["Idempotency-Key"] = what.key;
  const body = what.method === "DELETE" ? null : JSON.stringify(what.body ?? {});
  const response = await send(what.path, { method: what.method, headers: headers(more), body });
  return response.status === 204 ? null : await response.json();
}

/** "?a=1&b=2" of what is not empty. */
export function query(fields: Record<string, string | number | undefined>): Query {
  const set = Object.entries(fields).filter(([, value]) => value !== undefined && value !== "");
  return set.length === 0 ? "" : `?${new URLSearchParams(set.map(([key, value]) => [key, String(value)])).toString()}`;
}
