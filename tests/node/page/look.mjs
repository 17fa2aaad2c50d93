// What the pages show.
import assert from "node:assert/strict";
import { kColours, kDesk, kPhone } from "./stage.mjs";

/** Whatever may stand in a name, a reason, an error or a payload. */
export const kHostile = `<script>alert(1)</script><img src=x onerror=alert(2)>"'\`\u202Eevil\u202C ${"x".repeat(200)}`;
/** The same where there is not so much room. */
const kName = kHostile.slice(0, 180);
const kTenant = "11111111-1111-4111-8111-111111111111";

/** One thing of each kind at least, some of it in trouble, some with names that nobody should have. */
export async function seed({ api, acquire, enqueue, bury, token }) {
  await acquire("nightly-report", "web-1");
  await acquire("a/b", kName);
  await acquire("turned", "\u202Eevil <b>name</b>");
  await enqueue("mail", { to: kHostile, password: "hunter2" }, { headers: { "x-note": kHostile } });
  await bury("welcome", kHostile);
  await api("PUT", "/api/v1/jobs/nightly", { topic: "reports", cron: "30 2 * * *" });
  const license = await api("POST", "/api/v1/licenses", { seats: 3, name: "Editor" });
  const seat = await api("POST", "/api/v1/licenses/acquire", { license_key: license.license_key, machine_id: "laptop-1" });
  await api("PUT", "/api/v1/bots", { sources: [], bots: [{ name: "orders", events: [], ordering_scope: "custom", max_delivery_count: 1 }] });
  for (const n of [1, 2]) await api("POST", "/api/v1/queues/orders/messages", { session_key: "customer-7", payload: { n } });
  const { session, fence } = (await api("POST", "/api/v1/queues/orders/accept", { consumer: "worker", key: "customer-7" })).sessions[0];
  await api("POST", "/api/v1/queues/orders/abandon", { sessions: [{ session, fence, sequence: 1, error: kHostile }] });
  await api("POST", "/api/v1/inbox/begin", { source: "shop/eu", message_id: "evt_1" });
  const user = await api("PUT", "/sessions", { userObjectId: crypto.randomUUID(), tenantObjectId: kTenant, capacityId: crypto.randomUUID(), sessionKind: 1 });
  await api("PUT", "/api/v1/subscriptions/billing", { topic: "orders", url: "https://hooks.example.com/orders" });
  return { parked: session, license: license.id, seat: seat.session_id, session: user.sessionId, isGuarded: Boolean(token) };
}

let seeds;

export default {
  async "every page of the menu is drawn, in both themes, and can be used by everybody"(stage) {
    const { page, open, menu, settled, checkAccess, checkWidth, once } = stage;
    seeds = stage.seeds = await seed(stage);
    await open("/", "Overview");
    const titles = await menu().allTextContents();
    assert.ok(titles.length >= 15, titles.join());
    for (const scheme of once ? ["light", "dark"] : ["light"]) {
      await page.emulateMedia({ colorScheme: scheme });
      for (const title of titles) {
        await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: title, exact: true }).click();
        await page.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
        await settled();
        assert.equal(await page.getByRole("alert").count(), 0, title);
        // Nothing was sent by a source, and no window of usage has closed yet.
        if (title !== "Webhooks" && title !== "Usage") assert.equal(await page.locator(".empty").count(), 0, `${title} has nothing to show`);
        if (once) await checkAccess(`${title}, ${scheme}`, page, scheme === "dark" ? kColours : undefined);
        if (scheme === "dark") continue;
        await page.setViewportSize(kPhone);
        await checkWidth(`${title} on a phone`);
        await page.setViewportSize(kDesk);
      }
    }
    await page.emulateMedia({ colorScheme: "light" });
  },

  async "the overview says what needs attention, and leads to it"({ page, api, open }) {
    await api("PATCH", "/api/v1/topics/mail", { paused: true, reason: "supplier is down" });
    await open("/", "Overview");
    const attention = page.getByRole("region", { name: "Attention" });
    // It is counted every 10 seconds, and the page looks every 5.
    await attention.getByText("mail is paused since").waitFor();
    await page.getByRole("link", { name: /Messages ready/ }).waitFor();
    await page.getByRole("cell", { name: /this one/ }).waitFor();
    await attention.getByRole("link", { name: /TenureTopicPaused/ }).click();
    await page.getByRole("heading", { level: 1, name: "Topic mail" }).waitFor();
  },

  async "a page says why in the server's words, and can be used by everybody"({ url, page, api, once, checkAccess, checkWidth, settled }) {
    const { parked, seat, license, session } = seeds;
    for (const [kind, id, path] of [
      ["topic", "mail", "/topics/mail"], ["lease", "nightly-report", "/leases/nightly-report"], ["job", "nightly", "/jobs/nightly"],
      ["queue", "orders", "/queues/orders"], ["queue-session", parked, `/queues/orders/${parked}`], ["task", "leases.retention", "/tasks/leases.retention"],
      ["inbox", "shop%252Feu%2Fevt_1", "/inbox/shop%2Feu/evt_1"], ["seat", seat, `/seats/${seat}`], ["license", license, `/licenses/${license}`],
      ["session", session, `/sessions/${session}`], ["subscription", "billing", "/subscriptions/billing"],
    ]) {
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
      await settled();
      if (once) await checkAccess(kind);
      if (!once) continue;
      await page.setViewportSize(kPhone);
      await checkWidth(`${kind} on a phone`);
      await page.setViewportSize(kDesk);
    }
  },

  async "everything is found by its id or the beginning of its name, by keys alone"({ page, open, enqueue, checkAccess }) {
    const message = await enqueue("mail");
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

  async "a payload is shown when it is asked for, without what is named like a secret"({ url, page, enqueue }) {
    const message = await enqueue("mail", { password: "hunter2" });
    await page.goto(url + "/ui/messages/" + message);
    await page.getByRole("button", { name: "Show the payload" }).click();
    await page.getByText("••••••").waitFor();
    assert.equal(await page.getByText("hunter2").count(), 0);
    await page.getByRole("button", { name: "Show what is named like a secret" }).click();
    await page.getByText("hunter2").waitFor();
  },

  async "what looks like a script is text, a name cannot turn its line around, and a megabyte breaks nothing, also on a phone"({ url, page, open, api, enqueue, checkAccess, checkWidth }) {
    const big = await enqueue("big", { note: kHostile, much: "m".repeat(900_000) });
    const dead = (await api("GET", "/api/v1/dead-letters?topic=welcome")).items[0].id;
    await page.setViewportSize(kPhone);
    for (const [path, heading] of [["/leases", "Leases"], ["/leases/a%2Fb", "Lease a/b"], [`/messages/${dead}`, /^Message/], ["/dead-letters", "Dead letters"], [`/queues/orders/${seeds.parked}`, "Session customer-7"]]) {
      await open(path, heading);
      await page.getByText("<script>alert(1)").first().waitFor();
      await checkWidth(path);
    }
    await checkAccess("a session of a queue on a phone");
    // The mark that turns what follows around ends with the name.
    await open("/leases", "Leases");
    const turned = page.getByText("evil <b>name").first();
    await turned.waitFor();
    assert.equal(await turned.evaluate((text) => getComputedStyle(text).unicodeBidi), "isolate");
    await page.goto(`${url}/ui/messages/${big}`);
    await page.getByRole("button", { name: "Show the payload" }).click();
    await page.getByText("<script>alert(1)").first().waitFor();
    await checkWidth("a megabyte");
    await page.setViewportSize(kDesk);
    assert.equal(await page.locator("main script, main img").count(), 0);
  },

  async "times are shown in the zone of the reader's choice, and say in which"({ page, open }) {
    await open("/leases/nightly-report", "Lease nightly-report");
    const since = page.locator("dl.fields time").first();
    for (const [zone, words] of [["utc", " UTC"], ["Asia/Tokyo", " Tokyo"], ["local", ""]]) {
      await page.getByLabel("times").selectOption(zone);
      const expected = await since.evaluate((time, timeZone) => new Date(time.dateTime).toLocaleString("sv-SE", timeZone ? { timeZone } : {}), { utc: "UTC", local: "" }[zone] ?? zone);
      await since.getByText(expected + words).waitFor();
    }
  },

  async "a filter stands in the URL, so that its link shows the same"({ page, open }) {
    await open("/leases?prefix=nightly", "Leases");
    await page.getByRole("link", { name: "nightly-report" }).waitFor();
    assert.equal(await page.getByRole("link", { name: "a/b" }).count(), 0);
    assert.equal(await page.getByLabel("Name begins with").inputValue(), "nightly");
  },
};
