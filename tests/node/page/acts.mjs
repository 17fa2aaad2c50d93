// What can be done: each act by its dialog, to its entry in the audit, once.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";

const kReason = `it "is" <b>late</b> & 'slow'; rm -rf $HOME`;
/** What anybody may do with their own things as often as they like is not on record. */
const kOffRecord = new Set(["timer.cancel", "subscription.test"]);

/** What the page sends besides looks, while `during` runs. */
async function sentDuring(page, during) {
  const sent = [];
  const note = (request) => request.method() !== "GET" && sent.push(request);
  page.on("request", note);
  await during();
  page.off("request", note);
  return sent;
}

/** Fills whatever the dialog asks for, and sends it. */
async function confirm(dialog, title, reason) {
  const send = dialog.getByRole("button", { name: title, exact: true });
  const why = dialog.getByLabel(/^Reason/);
  if (await why.count()) {
    if (/if you like/.test(await dialog.locator("label").filter({ hasText: "Reason" }).innerText()) === false) assert.ok(await send.isDisabled(), `${title} without a reason`);
    await why.fill(reason);
    await why.press("Enter");
  }
  const typed = dialog.getByLabel(/^Type/);
  if (await typed.count()) {
    assert.ok(await send.isDisabled(), `${title} without its name`);
    await typed.fill("another name");
    assert.ok(await send.isDisabled(), `${title} with another name`);
    await typed.fill(await dialog.locator("label code").innerText());
  }
  const line = (await dialog.locator(".command code").innerText()).replace(/^\$ /, "");
  await send.click();
  return line;
}

/** Whether the tool knows the command that does the same: nobody answers it here, which is 5; a wrong line is 2. */
function checkCommand(line, tool) {
  assert.match(line, /^tenure /);
  const { status, stderr } = spawnSync("bash", ["-c", line], { env: { ...process.env, PATH: `${tool}:${process.env.PATH}`, TENURE_SERVER: "http://127.0.0.1:9" }, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });
  assert.equal(status, 5, `${line}\n${stderr}`);
}

async function perform(stage, path, action) {
  const { url, page, dialog, audit, token, once, tool } = stage;
  await page.goto(`${url}/ui${path}`);
  await page.getByRole("button", { name: `${action.title}…`, exact: true }).click();
  const sent = await sentDuring(page, async () => {
    const line = await confirm(dialog, action.title, kReason);
    await dialog.getByText(/^Done/).waitFor();
    if (once) checkCommand(line, tool);
  });
  assert.equal(sent.length, 1, `${action.title} is sent once`);
  if (sent[0].method() !== "DELETE") assert.ok((await sent[0].allHeaders())["idempotency-key"], `${action.title} has a key`);
  // Those of topics are summed up by the minute and the person (docs/security.md): their entry may come later.
  if (!kOffRecord.has(action.act) && !action.act.startsWith("topic.")) {
    const entry = (await audit(action.act))[0];
    assert.equal(entry?.detail.reason ?? entry?.detail.last?.reason, kReason, `${action.title} is on record with its reason: ${JSON.stringify(entry)}`);
    if (token) assert.equal(entry.person, "ada");
    await dialog.getByRole("link", { name: "See it in the audit" }).click();
    await page.getByRole("heading", { level: 1, name: "Audit" }).waitFor();
    await page.getByRole("cell", { name: action.act, exact: true }).first().waitFor();
  }
}

export default {
  async "every act that the server offers is done by its dialog, and is on record with person and reason"(stage) {
    const { api, ask, acquire, enqueue, bury, seeds } = stage;
    await acquire("to-break");
    const redriven = await bury("acts");
    const discarded = await bury("acts-too");
    const timer = await enqueue("later", 1, { delay_ms: 3_600_000 });
    await enqueue("to-pause");
    const things = [
      ["lease", "to-break", "/leases/to-break"], ["session", seeds.session, `/sessions/${seeds.session}`], ["topic", "to-pause", "/topics/to-pause"],
      ["message", redriven, `/messages/${redriven}`], ["message", discarded, `/messages/${discarded}`, "Discard it"], ["message", timer, `/messages/${timer}`], ["job", "nightly", "/jobs/nightly"],
      ["task", "leases.retention", "/tasks/leases.retention"], ["queue", "orders", "/queues/orders"], ["queue-session", seeds.parked, `/queues/orders/${seeds.parked}`],
      ["seat", seeds.seat, `/seats/${seeds.seat}`], ["license", seeds.license, `/licenses/${seeds.license}`],
    ];
    const done = new Set();
    for (const [kind, id, path, only] of things) {
      // What cannot be taken back comes last; an act may bring about another one.
      const mine = new Set();
      for (;;) {
        const answer = await ask("GET", `/api/v1/why/${kind}/${encodeURIComponent(id)}`);
        const actions = answer.ok ? (await answer.json()).actions : [];
        const left = actions.filter((each) => !mine.has(each.title) && (!only || each.title === only)).sort((a, b) => Number(a.danger) - Number(b.danger));
        if (left.length === 0) break;
        await perform(stage, path, left[0]);
        mine.add(left[0].title);
        done.add(left[0].act);
      }
      assert.ok(mine.size > 0, `${kind} offers nothing`);
    }
    for (const act of ["lease.break", "session.end", "topic.pause", "topic.resume", "message.redrive", "message.discard", "timer.cancel", "job.trigger", "job.pause", "job.resume", "task.run", "queue.pause", "seat.revoke", "license.change", "license.revoke"])
      assert.ok(done.has(act), `${act} was not offered: ${[...done]}`);
    assert.ok([...done].some((act) => act.startsWith("queue.") && act !== "queue.pause"), [...done].join());
    await api("GET", "/api/v1/audit");
  },

  async "a lost answer is said to be lost, and asked for again with the same key it happened once"({ page, dialog, open, api, audit, acquire }) {
    await acquire("lost-answer");
    await open("/leases/lost-answer", "Lease lost-answer");
    await page.getByRole("button", { name: "Break lost-answer…" }).click();
    await dialog.getByLabel("Reason").fill("host gone");
    // The server gets it and does it; what it says is lost on the way.
    await page.route("**/break", async (route) => {
      await route.fetch();
      await route.abort("connectionreset");
    }, { times: 1 });
    const sent = await sentDuring(page, async () => {
      await dialog.getByRole("button", { name: "Break lost-answer" }).click();
      await dialog.getByText("Whether it happened is not known").waitFor();
      await dialog.getByRole("button", { name: "Ask again" }).click();
      await dialog.getByText("Done.").waitFor();
    });
    const keys = await Promise.all(sent.map(async (request) => (await request.allHeaders())["idempotency-key"]));
    assert.equal(keys.length, 2);
    assert.equal(keys[0], keys[1]);
    assert.equal((await audit("lease.break")).filter(({ object }) => object === "lost-answer").length, 1, "it happened once");
    await page.keyboard.press("Escape");
  },

  async "what has changed since the dialog opened is said, and nothing else happens"({ url, page, dialog, open, api, audit, acquire, enqueue }) {
    const { term, fence } = await acquire("moved");
    await open("/leases/moved", "Lease moved");
    await page.getByRole("button", { name: "Break moved…" }).click();
    await dialog.getByLabel("Reason").fill("host gone");
    await api("POST", "/api/v1/leases/moved/release", { term, fence });
    const { fence: later } = await acquire("moved", "another");
    await dialog.getByRole("button", { name: "Break moved" }).click();
    await dialog.getByText("Nothing was changed. That grant is over").waitFor();
    assert.equal(await dialog.getByRole("link", { name: "See it in the audit" }).count(), 0);
    assert.equal((await api("GET", "/api/v1/leases/moved")).fence, later);
    assert.equal((await api("GET", "/api/v1/leases/moved")).state, "held");
    await page.keyboard.press("Escape");
    await page.getByText("is held by another").first().waitFor();
    const timer = await enqueue("later", 1, { delay_ms: 3_600_000 });
    await page.goto(`${url}/ui/messages/${timer}`);
    await page.getByRole("button", { name: "Cancel it…" }).click();
    await api("DELETE", `/api/v1/timers/${timer}`);
    await dialog.getByLabel("Reason").fill("not needed");
    await dialog.getByLabel(/^Type/).fill(timer.slice(0, 8));
    await dialog.getByRole("button", { name: "Cancel it" }).click();
    await dialog.getByRole("alert").waitFor();
    await page.keyboard.press("Escape");
    assert.equal((await audit("lease.break")).filter(({ object }) => object === "moved").length, 0);
  },

  async "an act is sent by its dialog's button alone, and a reason has at most 500 bytes"({ page, dialog, open, api, acquire, checkAccess, once }) {
    await acquire("untouched");
    await open("/leases/untouched", "Lease untouched");
    const sent = await sentDuring(page, async () => {
      await page.getByRole("button", { name: "Break untouched…" }).click();
      const send = dialog.getByRole("button", { name: "Break untouched" });
      assert.ok(await send.isDisabled(), "without a reason");
      for (const reason of [" ", "ü".repeat(251)]) {
        await dialog.getByLabel("Reason").fill(reason);
        assert.ok(await send.isDisabled(), reason);
      }
      await dialog.getByText("At most 500 bytes").waitFor();
      await dialog.getByLabel("Reason").fill("x".repeat(501));
      assert.equal((await dialog.getByLabel("Reason").inputValue()).length, 500);
      await dialog.getByLabel("Reason").press("Enter");
      if (once)
        for (const scheme of ["dark", "light"]) {
          await page.emulateMedia({ colorScheme: scheme });
          await checkAccess(`a dialog, ${scheme}`);
        }
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Free untouched…" }).click();
      await dialog.getByLabel("Reason").fill("host gone");
      assert.ok(await dialog.getByRole("button", { name: "Free untouched" }).isDisabled(), "without its name");
      await dialog.getByRole("button", { name: "Cancel" }).click();
    });
    assert.deepEqual(sent.map((request) => request.url()), []);
    assert.equal((await api("GET", "/api/v1/leases/untouched")).state, "held");
  },

  async "a pause is taken back where it was made"({ page, dialog, open, api, enqueue, checkAccess, once }) {
    await enqueue("taken-back");
    await open("/topics/taken-back", "Topic taken-back");
    await page.getByRole("button", { name: "Pause taken-back…" }).click();
    await dialog.getByLabel("Reason").fill("again");
    await dialog.getByRole("button", { name: "Pause taken-back" }).click();
    await dialog.getByRole("button", { name: "Undo" }).click();
    await dialog.getByText("Undone.").waitFor();
    if (once) await checkAccess("what came of an act");
    await dialog.getByRole("button", { name: "Close" }).click();
    assert.equal((await api("GET", "/api/v1/topics/taken-back")).paused, false);
  },

  async "an act asks for what it needs, and says what it brings about"({ page, dialog, open, api, audit, checkAccess, once }) {
    await open("/topics/mail", "Topic mail");
    await page.getByRole("button", { name: /Change settings/ }).click();
    await dialog.getByLabel("max_attempts").fill("many");
    assert.ok(await dialog.getByRole("button", { name: "Change settings" }).isDisabled(), "no number");
    await dialog.getByLabel("max_attempts").fill("7");
    await dialog.getByText("tenure topic set mail --max-attempts 7").waitFor();
    await dialog.getByLabel("Reason").fill("a slow supplier");
    if (once) await checkAccess("a dialog with fields");
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
    assert.equal((await audit("usage.factor"))[0].detail.reason, "new prices");
    await page.getByRole("button", { name: "Send refused records again…" }).click();
    await dialog.getByRole("button", { name: "Send refused records again" }).click();
    await dialog.getByText("Done: 0 records").waitFor();
    await page.keyboard.press("Escape");
  },

  async "what fits a filter is counted first, and put back or away in one act"({ page, dialog, open, api, audit, bury }) {
    await bury("bulk", "no room", 3);
    for (const [verb, word] of [["Discard", "bulk"], ["Redrive", undefined]]) {
      await open("/dead-letters?topic=bulk", "Dead letters");
      await page.getByRole("region", { name: "Groups" }).getByText("no room").waitFor();
      await page.getByRole("button", { name: `${verb} all that fit…` }).click();
      await dialog.getByText("3 fit. The first:").waitFor();
      if (word) {
        await page.keyboard.press("Escape");
        continue;
      }
      // One more dies between the count and the act: it is told what was done.
      await bury("bulk", "no room");
      await dialog.getByLabel("Reason").fill("mended");
      await dialog.getByRole("button", { name: `${verb} all that fit` }).click();
      await dialog.getByText("Done: 4 redriven").waitFor();
      await page.keyboard.press("Escape");
    }
    assert.equal((await api("GET", "/api/v1/topics/bulk")).dead, 0);
    assert.equal((await audit("message.redrive"))[0].detail.reason, "mended");
  },

  async "an act whose page was left before its answer came says what came of it, and what is shown is looked at again"({ page, dialog, open }) {
    await open("/tasks", "Tasks");
    await page.getByRole("link", { name: "leases.retention" }).click();
    await page.getByRole("button", { name: /Run leases.retention now…/ }).click();
    let answer;
    const asked = new Promise((resolve) => page.route("**/api/v1/tasks/*/run", (route) => resolve((answer = () => route.continue()))));
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
};
