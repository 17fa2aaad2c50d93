// The page in a real browser: node page.mjs URL [TOKEN]. With a token it is asked for first. Prints a
// line for each step and ends with 1 at the first that fails.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { chromium } from "playwright-core";

const [url, token] = process.argv.slice(2);
const axe = readFileSync(new URL("node_modules/axe-core/axe.min.js", import.meta.url), "utf8");

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium" });
const context = await browser.newContext();
const wrong = []; // what no page may bring about
context.on("page", (page) => {
  page.on("pageerror", (error) => wrong.push(`error: ${error.message}`));
  page.on("console", (line) => {
    // The browser notes each answer that is an error; those that a step asks for are expected.
    const expected = /Failed to load resource/.test(line.text());
    if (line.type() === "error" && !expected) wrong.push(`console: ${line.text()}`);
  });
});

const page = await context.newPage();
const open = async (path, heading) => {
  await page.goto(url + "/ui" + path);
  await page.getByRole("heading", { level: 1, name: heading }).waitFor();
};

async function checkAccess(name) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() =>
    window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"] }),
  );
  const bad = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  assert.deepEqual(bad.map(({ id, nodes }) => `${id}: ${nodes[0].html}`), [], name);
}

async function api(method, path, body) {
  const response = await fetch(url + path, {
    method,
    headers: { "Content-Type": "application/json", ...(token ? { Authorization: `Bearer ${token}` } : {}) },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  assert.ok(response.status < 300, `${method} ${path}: ${response.status}`);
  return response.json();
}

let parked = ""; // a session of the queue orders
const hostile = `<script>alert(1)</script>"'${"x".repeat(120)}`;

const kSteps = {
  async "a token is asked for, shared with tabs of the page, and forgotten by all of them"() {
    if (!token) return;
    await page.goto(url + "/ui/leases");
    await page.getByLabel("Token").fill("Bearer " + token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "Leases" }).waitFor();
    assert.ok(!page.url().includes(token.slice(0, 20)));
    const other = await context.newPage();
    await other.goto(url + "/ui/topics");
    await other.getByRole("heading", { level: 1, name: "Topics" }).waitFor();
    await other.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token").waitFor();
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { level: 1, name: "Leases" }).waitFor();
    await other.close();
  },

  async "what nobody has used yet says what it is for and how to begin"() {
    await open("/leases", "Leases");
    await page.getByText("tenure lease run nightly-report").waitFor();
  },

  async "every page of the menu is drawn, in both themes, and can be used by everybody"() {
    for (const [name, holder] of [["nightly-report", "web-1"], ["a/b", hostile]])
      await api("POST", `/api/v1/leases/${encodeURIComponent(name)}/acquire`, {
        term: crypto.randomUUID(), ttl_ms: 600_000, holder,
      });
    await api("POST", "/api/v1/messages", { topic: "mail", payload: { to: hostile, password: "hunter2" } });
    await api("PUT", "/api/v1/jobs/nightly", { topic: "reports", cron: "30 2 * * *" });
    await api("POST", "/api/v1/licenses", { seats: 3, name: "Editor" });
    await api("PUT", "/api/v1/bots", { sources: [], bots: [{ name: "orders", events: [], ordering_scope: "custom", max_delivery_count: 1 }] });
    for (const n of [1, 2]) await api("POST", "/api/v1/queues/orders/messages", { session_key: "customer-7", payload: { n } });
    const { session, fence } = (await api("POST", "/api/v1/queues/orders/accept", { consumer: "worker", key: "customer-7" })).sessions[0];
    await api("POST", "/api/v1/queues/orders/abandon", { sessions: [{ session, fence, sequence: 1, error: hostile }] });
    parked = session;
    await api("POST", "/api/v1/inbox/begin", { source: "shop/eu", message_id: "evt_1" });
    await open("/", "Overview");
    const titles = await page.getByRole("navigation", { name: "Pages" }).getByRole("link").allTextContents();
    assert.ok(titles.length >= 9, titles.join());
    for (const scheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
      for (const title of titles) {
        await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: title, exact: true }).click();
        await page.getByRole("heading", { level: 1, name: title }).waitFor();
        await page.waitForFunction(() => !document.querySelector(".skeleton"));
        assert.equal(await page.getByRole("alert").count(), 0, title);
        await checkAccess(`${title}, ${scheme}`);
        if (scheme === "dark") continue;
        await page.setViewportSize({ width: 360, height: 740 });
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        assert.ok(wide <= 360, `${title} is ${wide} pixels wide on a phone`);
        await page.setViewportSize({ width: 1280, height: 800 });
      }
    }
  },

  async "the overview says what needs attention, and leads to it"() {
    await api("PATCH", "/api/v1/topics/mail", { paused: true, reason: "supplier is down" });
    await open("/", "Overview");
    const attention = page.getByRole("region", { name: "Attention" });
    // It is counted every 10 seconds, and the page looks every 5.
    await attention.getByText('mail is paused since').waitFor();
    await page.getByRole("link", { name: /Messages ready/ }).waitFor();
    await page.getByRole("cell", { name: /this one/ }).waitFor();
    await attention.getByRole("link", { name: /TenureTopicPaused/ }).click();
    await page.getByRole("heading", { level: 1, name: "Topic mail" }).waitFor();
  },

  async "a page says why in the server's words"() {
    for (const [kind, id, path] of [["topic", "mail", "/topics/mail"], ["lease", "nightly-report", "/leases/nightly-report"], ["job", "nightly", "/jobs/nightly"],
      ["queue", "orders", "/queues/orders"], ["queue-session", parked, `/queues/orders/${parked}`], ["task", "leases.retention", "/tasks/leases.retention"],
      ["inbox", "shop%252Feu%2Fevt_1", "/inbox/shop%2Feu/evt_1"]]) {
      await page.goto(url + "/ui" + path);
      const shown = page.locator("[data-sentence]");
      await shown.waitFor();
      // Ages are in it: the page may be two seconds older than the answer.
      let said = "", read = "";
      for (let tries = 0; tries < 20 && (!said || said !== read); ++tries) {
        said = (await api("GET", `/api/v1/why/${kind}/${id}`)).sentence;
        read = await shown.innerText();
        if (said !== read) await page.locator("body").press("r");
      }
      assert.equal(read, said, kind);
    }
  },

  async "everything is found by its id or the beginning of its name, by keys alone"() {
    const { id: message } = await api("POST", "/api/v1/messages", { topic: "mail", payload: 1 });
    await open("/leases", "Leases");
    await page.locator("body").press("/");
    const search = page.getByRole("dialog").getByRole("combobox");
    await search.fill("nightly-");
    await page.getByRole("option", { name: /nightly-report/ }).waitFor();
    await checkAccess("the search");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Lease nightly-report" }).waitFor();
    await page.locator("body").press("/");
    await search.fill(message);
    await page.getByRole("option", { name: new RegExp(message) }).waitFor();
    await page.keyboard.press("Enter");
    await page.locator("[data-sentence]").getByText("The topic mail is paused").waitFor();
    await page.locator("body").press("/");
    await search.fill("there is no such thing");
    await page.getByText("Nothing has this id").waitFor();
    await page.keyboard.press("Escape");
  },

  async "a payload is shown when it is asked for, without what is named like a secret"() {
    const { id: message } = await api("POST", "/api/v1/messages", { topic: "mail", payload: { password: "hunter2" } });
    await page.goto(url + "/ui/messages/" + message);
    await page.getByRole("button", { name: "Show the payload" }).click();
    await page.getByText("••••••").waitFor();
    assert.equal(await page.getByText("hunter2").count(), 0);
    await page.getByRole("button", { name: "Show what is named like a secret" }).click();
    await page.getByText("hunter2").waitFor();
  },

  async "a pause is taken back where it was made"() {
    await open("/topics/mail", "Topic mail");
    await page.getByRole("button", { name: "Resume mail…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Reason").fill("the supplier is back");
    await dialog.getByRole("button", { name: "Resume mail" }).click();
    await dialog.getByText("Done.").waitFor();
    await checkAccess("what came of an act");
    await dialog.getByRole("button", { name: "Close" }).click();
    const entries = (await api("GET", "/api/v1/audit?act=topic.resume")).items;
    assert.equal(entries[0].detail.reason, "the supplier is back");
    await page.getByRole("button", { name: "Pause mail…" }).click();
    assert.ok(await dialog.getByRole("button", { name: "Pause mail" }).isDisabled(), "without a reason");
    await dialog.getByLabel("Reason").fill("again");
    await dialog.getByRole("button", { name: "Pause mail" }).click();
    await dialog.getByRole("button", { name: "Undo" }).click();
    await dialog.getByText("Undone.").waitFor();
    await dialog.getByRole("link", { name: "See it in the audit" }).click();
    await page.getByRole("heading", { level: 1, name: "Audit" }).waitFor();
    await page.getByText("topic.pause").first().waitFor();
    assert.equal((await api("GET", "/api/v1/topics/mail")).paused, false);
  },

  async "what a message has stopped is found by its id, and goes on"() {
    await open("/leases", "Leases");
    await page.locator("body").press("/");
    await page.getByRole("dialog").getByRole("combobox").fill(parked);
    await page.getByRole("option", { name: /customer-7/ }).waitFor();
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Session customer-7" }).waitFor();
    await page.getByText("customer-7 is parked since").waitFor();
    await checkAccess("a session of a queue");
    await page.getByRole("button", { name: "Resume customer-7…" }).click();
    const dialog = page.getByRole("dialog");
    assert.ok(await dialog.getByRole("button", { name: "Resume customer-7" }).isDisabled(), "without a reason");
    await dialog.getByLabel("Reason").fill("mended");
    await dialog.getByRole("button", { name: "Resume customer-7" }).click();
    await dialog.getByText("Done.").waitFor();
    await dialog.getByRole("link", { name: "See it in the audit" }).click();
    await page.getByRole("heading", { level: 1, name: "Audit" }).waitFor();
    await page.getByText(`orders/${parked}`).first().waitFor();
    assert.equal((await api("GET", `/api/v1/queues/orders/sessions/${parked}`)).reason, "ready");
    await open("/queues/orders", "Queue orders");
    await page.getByRole("link", { name: "customer-7" }).waitFor();
    await checkAccess("a queue");
  },

  async "an act asks for what it needs, and says what it brings about"() {
    await open("/topics/mail", "Topic mail");
    await page.getByRole("button", { name: /Change settings/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("max_attempts").fill("many");
    assert.ok(await dialog.getByRole("button", { name: "Change settings" }).isDisabled(), "no number");
    await dialog.getByLabel("max_attempts").fill("7");
    await dialog.getByText("tenure topic set mail --max-attempts 7").waitFor();
    await dialog.getByLabel("Reason").fill("a slow supplier");
    await checkAccess("a dialog with fields");
    await dialog.getByRole("button", { name: "Change settings" }).click();
    await dialog.getByText("Done.").waitFor();
    await page.keyboard.press("Escape");
    assert.equal((await api("GET", "/api/v1/topics/mail")).settings.max_attempts, 7);
    await open("/usage", "Usage");
    await page.getByRole("button", { name: "Set a factor…" }).click();
    await dialog.getByLabel("Of sessions of kind").selectOption("Premium");
    await dialog.getByLabel("Factor").fill("2.5");
    await dialog.getByLabel("Reason").fill("new prices");
    await dialog.getByText("tenure usage factors set premium 2.5").waitFor();
    await dialog.getByRole("button", { name: "Set a factor" }).click();
    await dialog.getByText(/Premium costs 2.5/).waitFor();
    await page.keyboard.press("Escape");
    const { items } = await api("GET", "/api/v1/audit?act=usage.factor");
    assert.equal(items[0].detail.reason, "new prices");
  },

  async "an act whose page was left before its answer came says what came of it, and what is shown is looked at again"() {
    await open("/tasks", "Tasks");
    await page.getByRole("link", { name: "leases.retention" }).click();
    await page.getByRole("button", { name: /Run leases.retention now…/ }).click();
    let answer;
    const asked = new Promise((resolve) => page.route("**/api/v1/tasks/*/run", (route) => resolve(answer = () => route.continue())));
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Run leases.retention now" }).click();
    await asked;
    await page.goBack();
    await page.getByRole("heading", { level: 1, name: "Tasks" }).waitFor();
    const again = page.waitForRequest(/api\/v1\/tasks$/);
    await answer();
    await dialog.getByText("Done.").waitFor();
    await again;
    await page.keyboard.press("Escape");
    await page.unroute("**/api/v1/tasks/*/run");
  },

  async "nothing is asked while the tab is hidden, nor while it is paused, also when it is come back to"() {
    const other = await context.newPage();
    await other.clock.install();
    await other.goto(url + "/ui/leases");
    await other.getByRole("link", { name: "nightly-report" }).waitFor();
    let asked = 0;
    other.on("request", (request) => (asked += request.url().includes("/api/") ? 1 : 0));
    const hide = (hidden) =>
      other.evaluate((now) => {
        Object.defineProperty(document, "hidden", { configurable: true, get: () => now });
        document.dispatchEvent(new Event("visibilitychange"));
        if (!now) dispatchEvent(new Event("focus"));
      }, hidden);
    await hide(true);
    await other.clock.runFor(120_000);
    assert.equal(asked, 0, "hidden");
    await hide(false);
    const live = other.waitForRequest(/api\/v1\/leases/);
    await other.clock.runFor(6_000);
    await (await live).response();
    await other.locator("body").press("p");
    asked = 0;
    await hide(true);
    await hide(false);
    await other.clock.runFor(120_000);
    assert.equal(asked, 0, "paused");
    await other.locator("body").press("p");
    await other.close();
  },

  async "a long list is turned page by page and back by the same keys"() {
    // The whole of 10,000 takes minutes: it is for ./test --long.
    const pages = process.env.TENURE_TEST_LONG ? 100 : 3;
    const names = Array.from({ length: pages * 100 }, (_, n) => `z-long/${String(n).padStart(5, "0")}`);
    for (let from = 0; from < names.length; from += 50)
      await Promise.all(names.slice(from, from + 50).map((name) => api("POST", `/api/v1/leases/${encodeURIComponent(name)}/acquire`, { term: crypto.randomUUID(), ttl_ms: 600_000, holder: "many" })));
    await open("/leases?prefix=z-long", "Leases");
    const first = page.locator("tbody tr:first-child a");
    const expectFirst = (n) => page.getByRole("link", { name: names[n], exact: true }).waitFor();
    await expectFirst(0);
    for (let at = 1; at < pages; ++at) {
      await page.locator("body").press("]");
      await expectFirst(at * 100);
    }
    assert.ok(await page.locator("[data-turn=further]").isDisabled(), "the last page");
    for (let at = pages - 2; at >= 0; --at) {
      await page.locator("body").press("[");
      await expectFirst(at * 100);
    }
    assert.equal(await page.locator("tbody tr").count(), 100);
    await page.locator("body").press("j");
    assert.equal(await first.evaluate((link) => link === document.activeElement), true);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: `Lease ${names[0]}` }).waitFor();
  },

  async "while rows come and go nothing moves under the reader's hand"() {
    const grant = (name) => api("POST", `/api/v1/leases/${name}/acquire`, { term: crypto.randomUUID(), ttl_ms: 600_000, holder: "h" });
    await grant("steady-b");
    const { term, fence } = await grant("steady-c");
    await open("/leases?prefix=steady&state=held", "Leases");
    await page.getByLabel("live").selectOption("2");
    await page.getByRole("link", { name: "steady-b" }).focus();
    await grant("steady-a");
    await api("POST", "/api/v1/leases/steady-c/release", { term, fence });
    await page.getByRole("button", { name: "1 new" }).waitFor();
    assert.equal(await page.getByRole("link", { name: "steady-a" }).count(), 0);
    assert.equal(await page.getByRole("link", { name: "steady-b" }).evaluate((link) => link === document.activeElement), true);
    await page.getByRole("link", { name: "steady-c" }).waitFor({ state: "detached" });
    await page.getByRole("button", { name: "1 new" }).click();
    await page.getByRole("link", { name: "steady-a" }).waitFor();
    await page.getByText("Columns").click();
    await page.getByRole("checkbox", { name: "Fence" }).uncheck();
    assert.equal(await page.getByRole("columnheader", { name: "Fence" }).count(), 0);
    await open("/leases?prefix=steady", "Leases");
    await page.getByRole("link", { name: "steady-a" }).waitFor();
    assert.equal(await page.getByRole("columnheader", { name: "Fence" }).count(), 0, "the choice is kept");
    await page.getByText("Columns").click();
    await page.getByRole("checkbox", { name: "Fence" }).check();
    await page.getByLabel("live").selectOption("5");
  },

  async "a name that looks like a script is text, also on a phone"() {
    await page.setViewportSize({ width: 360, height: 740 });
    await open("/leases", "Leases");
    await page.getByText("<script>alert(1)").first().waitFor();
    await page.getByRole("link", { name: "a/b" }).click();
    await page.getByRole("heading", { level: 1, name: "Lease a/b" }).waitFor();
    await page.getByText("<script>alert(1)").first().waitFor();
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    assert.ok(wide <= 360, `${wide} pixels wide`);
    await checkAccess("a lease on a phone");
    await page.setViewportSize({ width: 1280, height: 800 });
  },

  async "an act is sent by its dialog's button alone, and is on record"() {
    await open("/leases/nightly-report", "Lease nightly-report");
    await page.getByRole("button", { name: "Break nightly-report…" }).click();
    const dialog = page.getByRole("dialog");
    assert.ok(await dialog.getByRole("button", { name: "Break nightly-report" }).isDisabled(), "without a reason");
    await checkAccess("a dialog");
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    assert.equal((await api("GET", "/api/v1/leases/nightly-report")).state, "held");
    await page.getByRole("button", { name: "Free nightly-report…" }).click();
    await dialog.getByLabel("Reason").fill("host gone");
    assert.ok(await dialog.getByRole("button", { name: "Free nightly-report" }).isDisabled(), "without its name");
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Break nightly-report…" }).press("Enter");
    await dialog.getByLabel("Reason").fill("host gone");
    await dialog.getByRole("button", { name: "Break nightly-report" }).press("Enter");
    await dialog.getByText("Done.").waitFor();
    await page.keyboard.press("Escape");
    await page.getByText("host gone").first().waitFor();
    const { items } = await api("GET", "/api/v1/audit?act=lease.break");
    assert.equal(items[0].object, "nightly-report");
  },

  async "keys lead to pages, but not out of a text"() {
    await open("/leases", "Leases");
    await page.locator("body").press("g");
    await page.locator("body").press("t");
    await page.getByRole("heading", { level: 1, name: "Topics" }).waitFor();
    await open("/leases", "Leases");
    await page.getByLabel("Name begins with").fill("gt");
    assert.match(page.url(), /\/ui\/leases/);
  },

  async "times are shown in the zone of the reader's choice, and say in which"() {
    await open("/leases/nightly-report", "Lease nightly-report");
    const since = page.locator("dl.fields time").first();
    for (const [zone, words] of [["utc", " UTC"], ["Asia/Tokyo", " Tokyo"], ["local", ""]]) {
      await page.getByLabel("times").selectOption(zone);
      const expected = await since.evaluate((time, timeZone) => new Date(time.dateTime).toLocaleString("sv-SE", timeZone ? { timeZone } : {}), { utc: "UTC", local: "" }[zone] ?? zone);
      await since.getByText(expected + words).waitFor();
    }
  },

  async "a filter stands in the URL, so that its link shows the same"() {
    await open("/leases?prefix=nightly", "Leases");
    await page.getByRole("link", { name: "nightly-report" }).waitFor();
    assert.equal(await page.getByRole("link", { name: "a/b" }).count(), 0);
    assert.equal(await page.getByLabel("Name begins with").inputValue(), "nightly");
  },

  async "a server that is away is said so, with what was there, until it is back"() {
    await open("/leases", "Leases");
    await page.getByLabel("live").selectOption("2");
    await page.getByRole("link", { name: "nightly-report" }).waitFor();
    await context.setOffline(true);
    await page.getByRole("status").filter({ hasText: "cannot be reached" }).waitFor();
    assert.ok(await page.getByRole("link", { name: "nightly-report" }).isVisible());
    await context.setOffline(false);
    await page.getByRole("status").waitFor({ state: "detached" });
  },

  async "the whole walk by the keyboard alone, with the focus to be seen, also on a phone"() {
    /** Tab until `name` has the focus, as somebody without a mouse does. */
    const tabTo = async (name, whole = false) => {
      for (let presses = 0; presses < 150; ++presses) {
        await page.keyboard.press("Tab");
        const at = await page.evaluate(() => {
          const element = document.activeElement;
          const label = element.getAttribute("aria-label") ?? element.labels?.[0]?.textContent ?? element.textContent;
          return { label, visible: element.matches(":focus-visible") && getComputedStyle(element).outlineStyle !== "none" };
        });
        if (whole ? at.label !== name : !at.label?.startsWith(name)) continue;
        assert.ok(at.visible, `the focus on ${name} is not seen`);
        return;
      }
      assert.fail(`no key leads to ${name}`);
    };
    const dialog = page.getByRole("dialog");
    const actWith = async (reason, button) => {
      await dialog.waitFor();
      await tabTo("Reason");
      await page.keyboard.type(reason);
      await tabTo(button);
      await page.keyboard.press("Enter");
      await dialog.getByText("Done").waitFor();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
    };
    for (const [n, size] of [{ width: 1280, height: 800 }, { width: 360, height: 740 }].entries()) {
      const topic = `walk-${n}`;
      await api("POST", "/api/v1/messages", { topic, payload: n });
      const { messages } = await api("POST", "/api/v1/messages/claim", { topics: [topic], owner: "walker" });
      await api("POST", "/api/v1/messages/fail", { claims: [{ id: messages[0].id, fence: messages[0].fence, error: "no" }] });
      await page.setViewportSize(size);
      await open("/", "Overview");
      await page.keyboard.press("/");
      await dialog.getByRole("combobox").waitFor();
      await page.keyboard.type(`z-long/0000${n}`);
      await page.getByRole("option", { name: new RegExp(`z-long/0000${n}`) }).waitFor();
      await page.keyboard.press("Enter");
      await page.locator("[data-sentence]").getByText(`z-long/0000${n} is held by many`).waitFor();
      await tabTo(`Break z-long/0000${n}`);
      await page.keyboard.press("Enter");
      await actWith("host gone", `Break z-long/0000${n}`);
      await page.keyboard.press("g");
      await page.keyboard.press("d");
      await page.getByRole("heading", { level: 1, name: "Dead letters" }).waitFor();
      await tabTo("Topic", true);
      await page.keyboard.type(topic);
      await page.getByRole("heading", { name: "What died alike" }).waitFor();
      await tabTo("Redrive all that fit");
      await page.keyboard.press("Enter");
      await dialog.getByText("1 fit.").waitFor();
      await actWith("mended", "Redrive all that fit");
      await page.goto(`${url}/ui/topics/${topic}`);
      await page.getByRole("heading", { level: 1, name: `Topic ${topic}` }).waitFor();
      await tabTo(`Pause ${topic}`);
      await page.keyboard.press("Enter");
      await actWith("supplier is down", `Pause ${topic}`);
      assert.equal((await api("GET", `/api/v1/topics/${topic}`)).paused, true);
      assert.equal((await api("GET", `/api/v1/topics/${topic}`)).dead, 0, "it was redriven");
      assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= size.width, "it scrolls sideways");
    }
    await page.setViewportSize({ width: 1280, height: 800 });
  },

  async "what is not there says so"() {
    await open("/nothing/here", "No such page");
    await page.goto(url + "/ui/leases/never-granted");
    await page.getByRole("alert").waitFor();
  },
};

try {
  for (const [name, step] of Object.entries(kSteps)) {
    await step();
    assert.deepEqual(wrong, [], name);
    console.log(`ok: ${name}`);
  }
} catch (error) {
  console.log(`failed, at ${page.url()}: ${error.stack}`);
  console.log((await page.locator("main").innerText({ timeout: 1000 }).catch(() => "")).slice(0, 2000));
  process.exitCode = 1;
}
await browser.close();
