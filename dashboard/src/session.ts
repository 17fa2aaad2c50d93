// Who reads the page. The token stays in this tab's sessionStorage, is sent as a header, and is never
// put into a URL, a cookie or a log. Tabs of this page give it to one another; signing out ends all.
import { signal } from "@preact/signals";

export interface Me {
  mode: "token" | "protected";
  tenant: string;
  person: string | null;
  scopes: string[];
  expires_at: string | null;
  now: string;
  version: string;
  instance: string;
  store: string;
  parts: string[];
}

const kKey = "tenure-token";

export const token = signal(sessionStorage.getItem(kKey) ?? "");
export const me = signal<Me | null>(null);
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

export function signIn(text: string) {
  const bare = text.trim().replace(/^Bearer\s+/i, "");
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
