// What surrounds every page: who reads, the menu, how live it is, and what is wrong with the server.
import { useEffect, useState } from "preact/hooks";
import { look, Problem } from "./api";
import { interval, kIntervals, kZones, theme, zone } from "./choices";
import { Help, helping, useKeys } from "./keys";
import { ahead, refresh, returns, seen } from "./live";
import { href, place } from "./location";
import { Palette, searching } from "./palette";
import { AskedAct } from "./parts/act";
import { Trouble } from "./parts/bits";
import { exact } from "./parts/time";
import { kRows, pageOf } from "./routes";
import { asked, begun, isToken, me, signIn, signOut, token } from "./session";

export function Frame() {
  const problem = useMe();
  useKeys();
  return (
    <>
      <a class="skip" href="#page">Skip to the page</a>
      <Top />
      {seen.value.away && (
        <p class="banner" role="status">
          The server cannot be reached. What is shown is of {exact(new Date(seen.value.at).toISOString())}; the page goes on trying.
        </p>
      )}
      <Expiry />
      <OtherVersion />
      {asked.value !== null && <SignIn why={asked.value} />}
      {problem && !me.value && !problem.isAway && asked.value === null && <Trouble problem={problem} again={() => (refresh.value += 1)} />}
      {me.value && (
        <div class="columns">
          <Menu />
          <main id="page" tabIndex={-1}>
            {pageOf(place.value.path) ?? <NoPage />}
          </main>
        </div>
      )}
      {me.value && searching.value && <Palette />}
      {helping.value && <Help />}
      <AskedAct />
    </>
  );
}

const kMeMs = 60_000;

/** Asked again with each token, when the server is there again, and now and then: it may be another version by then. */
function useMe(): Problem | null {
  const [problem, setProblem] = useState<Problem | null>(null);
  useEffect(() => {
    let over = false;
    let timer = 0;
    let isNew = true;
    const ask = () => {
      if (document.hidden) {
        timer = window.setTimeout(ask, 5000);
        return;
      }
      if (me.value && interval.peek() === 0 && !isNew) {
        timer = window.setTimeout(ask, kMeMs);
        return;
      }
      isNew = false;
      look<"/api/v1/me">("/api/v1/me").then(
        (answer) => {
          if (over) return;
          me.value = answer;
          begun.value ||= answer.version;
          asked.value = null;
          setProblem(null);
          timer = window.setTimeout(ask, kMeMs);
        },
        (error: unknown) => {
          if (over || !(error instanceof Problem)) return;
          setProblem(error);
          if (error.isAway) seen.value = { ...seen.value, away: true };
          if (error.isAway || error.status >= 429) timer = window.setTimeout(ask, 5000);
        },
      );
    };
    ask();
    return () => {
      over = true;
      clearTimeout(timer);
    };
  }, [token.value, refresh.value, returns.value]);
  return problem;
}

/** Two minutes before the token ends. */
function Expiry() {
  const [soon, setSoon] = useState(false);
  const ends = me.value?.expires_at;
  useEffect(() => {
    setSoon(false);
    if (!ends) return;
    const left = Date.parse(ends) - Date.now() - ahead.value - 120_000;
    if (left > 2 ** 31 - 1) return;
    const timer = setTimeout(() => setSoon(true), Math.max(left, 0));
    return () => clearTimeout(timer);
  }, [ends]);
  if (!soon || !ends) return null;
  return <p class="banner" role="status">The token ends at {exact(ends)}. Sign out and in with a new one.</p>;
}

/** A server that was updated has another page: this one may not know its answers. */
function OtherVersion() {
  const now = me.value?.version;
  if (!now || now === begun.value) return null;
  return (
    <p class="banner note" role="status">
      The server is version {now} by now, and this page is of {begun.value}. Reload the page to have the new one; what you typed is lost.{" "}
      <button type="button" onClick={() => location.reload()}>Reload</button>
    </p>
  );
}

function Top() {
  const [more, setMore] = useState(false);
  return (
    <header class={more ? "top more" : "top"}>
      <a class="brand" href={href("/")}>Tenure</a>
      {me.value && <span class="where">{me.value.store} · {me.value.version}</span>}
      <span class="room" />
      {me.value && <button type="button" onClick={() => (searching.value = true)}>Search <kbd>/</kbd></button>}
      <button type="button" class="unfold" aria-expanded={more} onClick={() => setMore(!more)}>{more ? "Less" : "More"}</button>
      <div class="choices">
        <button type="button" aria-label="Keys" onClick={() => (helping.value = true)}>?</button>
        <label>
          live{" "}
          <select value={String(interval.value)} onChange={(event) => (interval.value = Number(event.currentTarget.value))}>
            {kIntervals.map((seconds) => (
              <option key={seconds} value={String(seconds)}>{seconds ? `${seconds} s` : "off"}</option>
            ))}
          </select>
        </label>
        <label>
          times{" "}
          <select value={zone.value} onChange={(event) => (zone.value = event.currentTarget.value)}>
            <option value="local">local</option>
            <option value="utc">UTC</option>
            {kZones.map((name) => <option key={name}>{name}</option>)}
          </select>
        </label>
        <label>
          theme{" "}
          <select value={theme.value} onChange={(event) => (theme.value = event.currentTarget.value)}>
            {["system", "light", "dark"].map((each) => <option key={each}>{each}</option>)}
          </select>
        </label>
        {me.value && <a href={href("/account")}>{me.value.person ?? "nobody"}@{me.value.tenant}</a>}
        {token.value && <button type="button" onClick={signOut}>Sign out</button>}
      </div>
    </header>
  );
}

const isThere = (part: string | null) => part === null || me.value?.parts.includes(part);
const isAllowed = (scope: string | null) => scope === null || me.value?.scopes.includes(scope);

function Menu() {
  const rows = kRows.filter((row) => isThere(row.part) && isAllowed(row.scope));
  const groups = [...new Set(rows.map((row) => row.group))];
  const at = place.value.path;
  return (
    <nav class="menu" aria-label="Pages">
      {groups.map((group) => (
        <section key={group}>
          {group && <h2>{group}</h2>}
          {rows.filter((row) => row.group === group).map((row) => (
            <a key={row.path} href={href(row.path)} aria-current={at === row.path || (row.path !== "/" && at.startsWith(row.path + "/")) ? "page" : undefined}>
              {row.title}
            </a>
          ))}
        </section>
      ))}
    </nav>
  );
}

function NoPage() {
  return (
    <>
      <h1>No such page</h1>
      <p>Nothing is shown at <code>{place.value.path}</code>. The menu has what there is.</p>
    </>
  );
}

function SignIn({ why }: { why: string }) {
  const [text, setText] = useState("");
  return (
    <form
      class="sign-in"
      onSubmit={(event) => {
        event.preventDefault();
        if (isToken(text)) signIn(text);
      }}
    >
      <h1>Sign in</h1>
      {why && <p role="alert">{why}</p>}
      <label>
        Token
        <input type="password" autocomplete="off" spellcheck={false} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      {text.trim() !== "" && !isToken(text) && <p role="status">This is no token: it has spaces or characters that none has, or more than 8,000 of them.</p>}
      <button type="submit" class="main" disabled={!isToken(text)}>Sign in</button>
      <p class="small">It stays in this tab. `tenure token issue` makes one for trying.</p>
    </form>
  );
}
