// Lists: their pages, and what stays where it is while they are looked at again.
import assert from "node:assert/strict";

// The whole of 10,000 takes minutes: it is for ./test --long.
const kPages = process.env.TENURE_TEST_LONG ? 100 : 3;

/** Through all pages by "]", and back by "[", where `first` tells the first row of a page. */
async function turn(page, first) {
  const seen = [await first()];
  const press = async (key) => {
    const before = await first();
    await page.locator("body").press(key);
    await page.waitForFunction((text) => document.querySelector("main .table tbody tr:first-child td:first-child a")?.href !== text, before);
    return first();
  };
  for (let at = 1; at < kPages; ++at) seen.push(await press("]"));
  assert.equal(new Set(seen).size, kPages, "each page begins with another row");
  assert.ok(await page.locator("[data-turn=further]").isDisabled(), "the last page");
  for (let at = kPages - 2; at >= 0; --at) assert.equal(await press("["), seen[at], `page ${at + 1} on the way back`);
  assert.equal(await page.locator("main .table tbody tr").count(), 100);
}

export default {
  async "long lists are turned page by page and back by the same keys"({ page, open, api, acquire, bury }) {
    const names = Array.from({ length: kPages * 100 }, (_, n) => `z-long/${String(n).padStart(5, "0")}`);
    for (let from = 0; from < names.length; from += 50) await Promise.all(names.slice(from, from + 50).map((name) => acquire(name, "many")));
    for (let left = kPages * 100; left > 0; left -= 1000) await bury("z-dead", "no", Math.min(left, 1000));
    const first = () => page.locator("main .table tbody tr:first-child td:first-child a").evaluate((link) => link.href);
    for (const [path, heading] of [["/leases?prefix=z-long", "Leases"], ["/dead-letters?topic=z-dead", "Dead letters"]]) {
      await open(path, heading);
      await page.waitForFunction(() => document.querySelectorAll("main .table tbody tr").length === 100);
      await turn(page, first);
    }
    await open("/leases?prefix=z-long", "Leases");
    await page.getByRole("link", { name: names[0] }).waitFor();
    await page.locator("body").press("j");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: `Lease ${names[0]}` }).waitFor();
  },

  async "while rows come and go, focus, selection and scroll stay where they are"({ page, open, api, acquire }) {
    const held = [];
    for (let n = 10; n < 50; ++n) held.push(acquire(`steady-${n}`));
    const grants = await Promise.all(held);
    await open("/leases?prefix=steady&state=held", "Leases");
    await page.getByLabel("live").selectOption("2");
    await page.getByRole("link", { name: "steady-40" }).focus();
    const at = await page.evaluate(() => {
      document.querySelector('a[href$="steady-30"]').scrollIntoView();
      const row = document.querySelector('a[href$="steady-31"]').closest("tr");
      getSelection().selectAllChildren(row.children[1]);
      return { y: scrollY, text: getSelection().toString() };
    });
    assert.ok(at.y > 100, "it is scrolled");
    assert.ok(at.text.includes("held"));
    await acquire("steady-00");
    await api("POST", "/api/v1/leases/steady-20/release", { term: grants[10].term, fence: grants[10].fence });
    await page.getByRole("button", { name: "1 new" }).waitFor({ state: "attached" });
    await page.locator("tr.gone").waitFor({ state: "attached" });
    const now = () => page.evaluate(() => ({ y: scrollY, text: getSelection().toString() }));
    assert.equal(await page.getByRole("link", { name: "steady-00" }).count(), 0);
    assert.deepEqual(await now(), at, "with a row that left and one that waits");
    assert.equal(await page.getByRole("link", { name: "steady-40" }).evaluate((link) => link === document.activeElement), true);
    await page.getByRole("link", { name: "steady-20" }).waitFor({ state: "detached" });
    assert.equal((await now()).text, at.text);
    await page.getByRole("button", { name: "1 new" }).click();
    await page.getByRole("link", { name: "steady-00" }).waitFor();
    await page.getByLabel("live").selectOption("5");
  },

  async "columns are chosen, and the choice is kept"({ page, open }) {
    await open("/leases?prefix=steady", "Leases");
    await page.getByText("Columns").click();
    await page.getByRole("checkbox", { name: "Fence" }).uncheck();
    assert.equal(await page.getByRole("columnheader", { name: "Fence" }).count(), 0);
    await open("/leases?prefix=steady", "Leases");
    await page.getByRole("link", { name: "steady-10" }).waitFor();
    assert.equal(await page.getByRole("columnheader", { name: "Fence" }).count(), 0, "the choice is kept");
    await page.getByText("Columns").click();
    await page.getByRole("checkbox", { name: "Fence" }).check();
  },

  async "nothing is asked while the tab is hidden, nor while it is paused, also when it is come back to"({ url, context }) {
    const page = await context.newPage();
    await page.clock.install();
    await page.goto(url + "/ui/leases?prefix=nightly");
    await page.getByRole("link", { name: "nightly-report" }).waitFor();
    let asked = 0;
    page.on("request", (request) => (asked += request.url().includes("/api/") ? 1 : 0));
    const hide = (hidden) =>
      page.evaluate((now) => {
        Object.defineProperty(document, "hidden", { configurable: true, get: () => now });
        document.dispatchEvent(new Event("visibilitychange"));
        if (!now) dispatchEvent(new Event("focus"));
      }, hidden);
    await hide(true);
    await page.clock.runFor(120_000);
    assert.equal(asked, 0, "hidden");
    await hide(false);
    const live = page.waitForRequest(/api\/v1\/leases/);
    await page.clock.runFor(6_000);
    await (await live).response();
    await page.locator("body").press("p");
    asked = 0;
    await hide(true);
    await hide(false);
    await page.clock.runFor(120_000);
    assert.equal(asked, 0, "paused");
    await page.locator("body").press("p");
    await page.close();
  },
};
