// Who reads the page. The token stays in this tab's sessionStorage, is sent as a header, and is never
// put into a URL, a cookie or a log. Tabs of this page give it to one another; signing out ends all.
import { signal } from "@preact/signals";
import type { AnswerOf } from "./types";

const kKey = "tenure-token";

export const token = signal(sessionStorage.getItem(kKey) ?? "");
export const me = signal<AnswerOf<"/api/v1/me"> | null>(null);
/** The version of the process that first answered: its page is this one. */
export const begun = signal("");
/** Why a token is asked for; null: none is. */
export const asked = signal<string | null>(null);

type Word = { ask: true } | { give: string } | { out: true };
const siblings = new BroadcastChannel("tenure-session");

siblings.onmessage = ({ data }: MessageEvent<Word>) => {
  if ("ask" in data && token.value) siblings.postMessage({ give: token.value } satisfies Word);
  if ("give" in data && !token.value) signIn(data.give);
  if ("out" in data) forget("");
};

function forget(why: string) {
  sessionStorage.removeItem(kKey);
  token.value = "";
  me.value = null;
  asked.value = why;
}

/** What was pasted, without what stands around a token. */
const bareOf = (text: string) => text.trim().replace(/^Bearer\s+/i, "");
/** Whether it can be sent at all: a header takes nothing else. */
export const isToken = (text: string) => /^[\x21-\x7e]{1,8000}$/.test(bareOf(text));

export function signIn(text: string) {
  const bare = bareOf(text);
  sessionStorage.setItem(kKey, bare);
  token.value = bare;
  asked.value = null;
}

export function signOut() {
  siblings.postMessage({ out: true } satisfies Word);
  forget("");
}

/** The server refused the token. The page keeps what it shows. */
export function signOutBecause(why: string) {
  if (!token.value) siblings.postMessage({ ask: true } satisfies Word);
  sessionStorage.removeItem(kKey);
  token.value = "";
  asked.value = why;
}

export const may = (scope: string) => me.value?.scopes.includes(scope) ?? false;
