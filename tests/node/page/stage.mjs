// What the steps stand on: one browser, one page that most of them use, the server by its API, and
// what no page may bring about.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const axe = readFileSync(new URL("../node_modules/axe-core/axe.min.js", import.meta.url), "utf8");
const kRules = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"];
/** All that another theme changes. */
export const kColours = { type: "rule", values: ["color-contrast"] };

export const kPhone = { width: 360, height: 740 };
export const kDesk = { width: 1280, height: 800 };

/** `given`: url, and with tokens `tokens`, by what they are for; `tokens.all` is the one that may all. */
export async function raise(given) {
  const { url, tokens } = given;
  const token = tokens?.all;
  const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium" });
  const wrong = [];
  const watch = (context) =>
    context.on("page", (page) => {
      page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
      page.on("console", (line) => {
        // The browser notes each answer that is an error; those that a step asks for are expected.
        const expected = /Failed to load resource/.test(line.text());
        if (line.type() === "error" && !expected) wrong.push(`console: ${line.text()}`);
      });
      page.on("request", (request) => {
        for (const each of Object.values(tokens ?? {}))
          if (each.length > 20 && request.url().includes(each.slice(-20))) wrong.push(`a token in ${request.url()}`);
      });
      // A step that hangs is to say where, and soon.
      page.setDefaultTimeout(20_000);
    });
  const context = await browser.newContext({ viewport: kDesk, reducedMotion: "reduce" });
  watch(context);
  const page = await context.newPage();
  const dialog = page.getByRole("dialog");

  const stage = {
    goOn: Boolean(process.env.PAGE_GO_ON), ...given, token, browser, context, page, dialog, wrong,

    /** A context of somebody else, with its first page; it is closed with `page.context().close()`. */
    async another() {
      const own = await browser.newContext({ viewport: kDesk, reducedMotion: "reduce" });
      watch(own);
      return own.newPage();
    },

    async open(path, heading, on = page) {
      await on.goto(url + "/ui" + path);
      await on.getByRole("heading", { level: 1, name: heading }).waitFor();
    },

    async signIn(text, on = page) {
      await on.getByLabel("Token").fill(text);
      await on.getByRole("button", { name: "Sign in" }).click();
    },

    menu: (on = page) => on.getByRole("navigation", { name: "Pages" }).getByRole("link"),

    /** Whatever is shown is there: nothing is awaited any more. */
    settled: (on = page) => on.waitForFunction(() => document.querySelector("main h1") && !document.querySelector(".skeleton")),

    /** Serious and critical findings of axe; there is to be none. */
    async checkAccess(name, on = page, rules = kRules) {
      await on.evaluate(axe);
      const { violations } = await on.evaluate((runOnly) => window.axe.run(document, { runOnly }), rules);
      const bad = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      assert.deepEqual(bad.map(({ id, nodes }) => `${id}: ${nodes[0].html}`), [], name);
    },

    async checkWidth(name, on = page) {
      const wide = await on.evaluate(() => document.documentElement.scrollWidth);
      const room = on.viewportSize().width;
      assert.ok(wide <= room, `${name} is ${wide} pixels wide, of ${room}`);
    },

    async ask(method, path, body, headers = {}) {
      return fetch(url + path, {
        method,
        headers: { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}), ...headers },
        body: body === undefined ? undefined : JSON.stringify(body),
      });
    },
    /** The same where it is to succeed. */
    async api(method, path, body) {
      const response = await stage.ask(method, path, body);
      if (response.status >= 300) assert.fail(`${method} ${path}: ${response.status} ${await response.text()}`);
      return response.status === 204 ? null : response.json();
    },

    acquire: (name, holder = "h") =>
      stage.api("POST", `/api/v1/leases/${encodeURIComponent(name)}/acquire`, { term: crypto.randomUUID(), ttl_ms: 600_000, holder }),
    enqueue: async (topic, payload = 1, more = {}) => (await stage.api("POST", "/api/v1/messages", { topic, payload, ...more })).id,
    /** A message that is dead, by its id. */
    async bury(topic, error = "no", count = 1) {
      await stage.api("POST", "/api/v1/messages", { messages: Array.from({ length: count }, (_, payload) => ({ topic, payload })) });
      const { messages } = await stage.api("POST", "/api/v1/messages/claim", { topics: [topic], owner: "digger", max: count });
      await stage.api("POST", "/api/v1/messages/fail", { claims: messages.map(({ id, fence }) => ({ id, fence, error })) });
      return messages[0].id;
    },
    audit: async (act) => (await stage.api("GET", `/api/v1/audit?act=${act}`)).items,

    /** Asks whoever started the servers: "stop 1", "start 1". What comes of it is to be seen. */
    please: (what) => console.log(`please ${what}`),
  };
  return stage;
}

/** Goes through steps, which are functions by their sentences. Ends with 1 at the first that fails; with `goOn`
 * (PAGE_GO_ON) at the end. */
export async function play(stage, parts) {
  for (const [name, step] of parts.flatMap(Object.entries)) {
    const begin = Date.now();
    await stage.page.setViewportSize(kDesk);
    try {
      await step(stage);
      assert.deepEqual(stage.wrong.splice(0), [], name);
      console.log(`ok: ${name} (${((Date.now() - begin) / 1000).toFixed(1)} s)`);
    } catch (error) {
      console.log(`not ok: ${name}, at ${stage.page.url()}: ${error.stack}`);
      console.log((await stage.page.locator("main").innerText({ timeout: 1000 }).catch(() => "")).slice(0, 1500));
      process.exitCode = 1;
      if (!stage.goOn) break;
    }
  }
  console.log(process.exitCode ? "failed" : "done");
  await stage.browser.close();
}
