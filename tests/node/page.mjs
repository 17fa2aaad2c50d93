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
    for (const [kind, id, path] of [["topic", "mail", "/topics/mail"], ["lease", "nightly-report", "/leases/nightly-report"], ["job", "nightly", "/jobs/nightly"]]) {
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
  console.log((await page.locator("body").innerText().catch(() => "")).slice(0, 2000));
  process.exitCode = 1;
}
await browser.close();
