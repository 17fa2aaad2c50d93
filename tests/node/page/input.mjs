// What is typed, or stands in a URL, and makes no sense.
import assert from "node:assert/strict";

export default {
  async "a URL that makes no sense says so, and breaks nothing"({ url, page, open, enqueue, settled, once }) {
    if (!once) return; // a proxy has its own words for some of them
    for (const path of ["/nothing/here", "/leases/a/b/c", "/leases/%E0%A4%A", "/..%2F..%2Fetc", "/ui"]) {
      await open(path, "No such page");
    }
    for (const path of ["/leases/never-granted", "/messages/no-id", "/messages/00000000-0000-7000-8000-000000000000", "/sessions/%3Cb%3E", "/usage/x", "/queues/none/none", "/jobs/" + "n".repeat(300)]) {
      await page.goto(url + "/ui" + path);
      await page.getByRole("alert").first().waitFor();
      assert.ok((await page.getByRole("alert").first().innerText()).length > 10, path);
    }
    const long = "x".repeat(8000);
    for (const path of ["/dead-letters?cursor=of-another-list", "/leases?state=nonsense", "/leases?prefix=" + encodeURIComponent("\u0000"), `/leases?prefix=${long}`, "/dead-letters?reason=none"]) {
      await page.goto(url + "/ui" + path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await page.getByRole("alert").first().waitFor();
    }
    // A cursor is of its list alone.
    await enqueue("cursor-a");
    await enqueue("cursor-b");
    const asked = [];
    page.on("request", (request) => asked.push(request.method()));
    for (const path of ["/leases?act=lease.break&reason=x", "/topics/cursor-a?paused=true#Pause", "/leases/nightly-report?dialog=open"]) {
      await page.goto(url + "/ui" + path);
      await settled();
      assert.equal(await page.getByRole("dialog").count(), 0, "a URL opens no dialog");
    }
    assert.deepEqual(asked.filter((method) => method !== "GET"), [], "a URL only shows");
    const missing = await fetch(url + "/ui/assets/main-NOTTHERE.js");
    assert.equal(missing.status, 404);
  },

  async "a search of anything finds it or nothing"({ page, open, dialog }) {
    await open("/leases", "Leases");
    await page.locator("body").press("/");
    const search = dialog.getByRole("combobox");
    for (const text of ["q", "%", "_", "'\"`;--", "<script>", "\u0007", "ü".repeat(100), "x".repeat(200)]) {
      await search.fill("");
      await search.fill(text);
      // Pages and names that begin so, or nothing; never a problem.
      await page.waitForFunction(() => document.querySelector("dialog [role=option], dialog [role=status]"));
      assert.equal(await dialog.getByRole("alert").count(), 0, text);
    }
    assert.equal(await dialog.getByRole("option", { name: /nightly-report/ }).count(), 0);
    for (const text of ["x".repeat(201), "ü".repeat(101)]) {
      await search.fill(text);
      await dialog.getByText("At most 200 bytes").waitFor();
    }
    await page.keyboard.press("Escape");
  },

  async "keys lead to pages, but not out of a text"({ page, open }) {
    await open("/leases", "Leases");
    await page.locator("body").press("g");
    await page.locator("body").press("t");
    await page.getByRole("heading", { level: 1, name: "Topics" }).waitFor();
    await open("/leases", "Leases");
    await page.getByLabel("Name begins with").fill("gt");
    assert.match(page.url(), /\/ui\/leases/);
    await page.locator("main").press("?");
    await page.getByRole("dialog").getByLabel("Single keys").selectOption("off");
    await page.getByRole("button", { name: "Close" }).click();
    await page.locator("main").press("g");
    await page.locator("main").press("t");
    await page.locator("main").press("/");
    assert.match(page.url(), /\/ui\/leases/);
    assert.equal(await page.getByRole("dialog").count(), 0);
    await page.getByRole("button", { name: "Keys" }).click();
    await page.getByRole("dialog").getByLabel("Single keys").selectOption("on");
    await page.getByRole("button", { name: "Close" }).click();
  },
};
