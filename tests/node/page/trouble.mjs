// Servers that are slow, that fail, that are gone; and what the page does when they are back.
import assert from "node:assert/strict";
import { kDesk, kPhone } from "./stage.mjs";

const kFailure = {
  status: 503,
  contentType: "application/problem+json",
  headers: { "Retry-After": "30" },
  body: JSON.stringify({ type: "urn:tenure:problem:store-unavailable", title: "The store cannot be reached", status: 503, detail: "Try again in a moment.", request_id: "00000000-0000-7000-8000-000000000000" }),
};

export default {
  async "each page bears a server that is slow, one that fails, a proxy that answers for it, and none at all"({ url, page, open, menu, settled, checkAccess, checkWidth }) {
    await open("/account", "Account");
    const titles = await menu().allTextContents();
    let how = "through";
    let waiting = [];
    await page.route(/\/(api\/v1|sessions|usage|health)(?!.*\/me$)/, (route) => {
      if (route.request().resourceType() !== "fetch" || how === "through") return route.continue();
      if (how === "slow") return waiting.push(route);
      if (how === "fails") return route.fulfill(kFailure);
      if (how === "proxy") return route.fulfill({ status: 502, contentType: "text/html", body: "<html><h1>502 Bad Gateway</h1></html>" });
      return route.abort("connectionrefused");
    });
    for (const title of titles) {
      how = "slow";
      await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: title, exact: true }).click();
      await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
      await page.locator("main .skeleton").first().waitFor();
      how = "fails";
      for (const route of waiting.splice(0)) await route.fulfill(kFailure).catch(() => {});
      const alert = page.getByRole("main").getByRole("alert").first();
      await alert.getByText("The store cannot be reached").waitFor();
      await alert.getByText("Try again in a moment.").waitFor();
      await settled();
      if (title === "Leases") {
        await checkAccess("a page whose server fails");
        await page.setViewportSize(kPhone);
        await checkWidth("a page whose server fails");
        await page.setViewportSize(kDesk);
      }
      how = "proxy";
      await alert.getByRole("button", { name: "Try again" }).click();
      await page.getByRole("main").getByText("The answer was 502").first().waitFor();
      how = "gone";
      await page.locator("body").press("r");
      await page.getByRole("status").filter({ hasText: "cannot be reached" }).waitFor();
      how = "through";
      await page.locator("body").press("r");
      await page.getByRole("status").filter({ hasText: "cannot be reached" }).waitFor({ state: "detached" });
      await settled();
      await page.waitForFunction(() => !document.querySelector("main [role=alert]"));
    }
    // What is shown stays while its server fails.
    await open("/leases", "Leases");
    await page.getByRole("link", { name: "nightly-report" }).waitFor();
    how = "fails";
    await page.locator("body").press("r");
    await page.getByText("The store cannot be reached").waitFor();
    assert.ok(await page.getByRole("link", { name: "nightly-report" }).isVisible());
    await page.unroute(/\/(api\/v1|sessions|usage|health)(?!.*\/me$)/);
  },

  async "a server that is away from the beginning is waited for"({ url, page }) {
    await page.route("**/api/v1/me", (route) => route.abort("connectionrefused"));
    await page.goto(url + "/ui/leases");
    await page.getByText("The server cannot be reached").waitFor();
    await page.unroute("**/api/v1/me");
    await page.locator("body").press("r");
    await page.getByRole("link", { name: "nightly-report" }).waitFor();
    await page.getByText("The server cannot be reached").waitFor({ state: "detached" });
  },

  async "a server that is updated says that the page is of another version, and how to have the new one"({ url, page, open, checkAccess }) {
    await open("/leases", "Leases");
    await page.route("**/api/v1/me", async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), version: "99.0.0" } });
    });
    await page.locator("body").press("r");
    await page.getByText("The server is version 99.0.0 by now").waitFor();
    await checkAccess("two versions");
    await page.unroute("**/api/v1/me");
    await page.getByRole("button", { name: "Reload" }).click();
    await page.getByRole("link", { name: "nightly-report" }).waitFor();
    assert.equal(await page.getByText("by now, and this page is of").count(), 0);
  },

  async "a server that is killed is said to be away, with what was there, until it is back"({ page, open, please, servers, menu }) {
    if (servers !== 1) return;
    await open("/leases", "Leases");
    await page.getByLabel("live").selectOption("2");
    await page.getByRole("link", { name: "nightly-report" }).waitFor();
    please("kill 0");
    await page.getByRole("status").filter({ hasText: "cannot be reached" }).waitFor();
    assert.ok(await page.getByRole("link", { name: "nightly-report" }).isVisible(), "what was there");
    for (const title of ["Topics", "Overview", "System"]) {
      await menu().getByText(title, { exact: true }).click();
      await page.getByRole("heading", { level: 1, name: title }).waitFor();
    }
    await menu().getByText("Leases", { exact: true }).click();
    please("start 0");
    await page.getByRole("link", { name: "nightly-report" }).waitFor({ timeout: 60_000 });
    await page.getByRole("status").filter({ hasText: "cannot be reached" }).waitFor({ state: "detached" });
    await page.getByLabel("live").selectOption("5");
  },

  async "one of three processes that is killed is missed by the others within 30 seconds, and processes of two versions are told"({ page, open, please, servers, api }) {
    if (servers !== 3) return;
    await open("/", "Overview");
    await page.locator("main tbody tr").nth(2).waitFor();
    please("kill 2");
    const begin = Date.now();
    const attention = page.getByRole("region", { name: "Attention" });
    await attention.getByText(/TenureInstanceLost/).waitFor({ timeout: 45_000 });
    const took = Date.now() - begin;
    assert.ok(took <= 35_000, `it took ${took} ms`);
    console.log(`a process that was killed is missed after ${(took / 1000).toFixed(1)} s`);
    assert.equal((await api("GET", "/api/v1/overview")).attention.filter(({ name }) => name === "TenureInstanceLost").length, 1);
    please("update 2");
    await attention.getByText(/TenureVersionsDiffer/).waitFor({ timeout: 30_000 });
    await attention.getByText(/different versions/).waitFor();
  },
};
