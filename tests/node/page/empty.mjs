// A server on which nothing has happened yet: each page teaches, and what it teaches works.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What the lines that are taught ask for: files of their reader. */
const kFiles = {
  "report": "#!/bin/sh\nexit 0\n",
  "payload.json": JSON.stringify({ action: "opened", issue: { number: 7 }, repository: { full_name: "acme/shop" } }),
  "secret": "It is a secret to everybody",
  "bots.yaml": `sources:
  - {name: github, secrets: [{file: SECRET}]}
bots:
  - {name: triage, events: ["issues*"], ordering_scope: entity}
`,
};

export default {
  async "each page says what it is for, and every line that it teaches fills it"({ url, page, menu, settled, token, tokens, checkAccess, tool, once }) {
    if (!once) return; // the lines are of a tenant that no token has
    await page.goto(url + "/ui/");
    await menu().first().waitFor();
    const paths = await menu().evaluateAll((links) => links.map((link) => new URL(link.href).pathname));
    const folder = mkdtempSync(join(tmpdir(), "page-"));
    for (const [name, text] of Object.entries(kFiles)) writeFileSync(join(folder, name), text.replace("SECRET", join(folder, "secret")), { mode: 0o700 });
    const environment = { ...process.env, PATH: `${tool}:${process.env.PATH}`, ...(token && { TENURE_TOKEN: token }) };
    const lines = [];
    for (const path of paths) {
      await page.goto(new URL(path, url).href);
      await settled();
      const boxes = page.locator(".empty");
      for (const box of await boxes.all()) {
        assert.ok((await box.locator("p").first().innerText()).length > 20, path);
        for (const line of await box.locator("code").allInnerTexts()) lines.push([path, line.replace(/^\$ /, "")]);
      }
    }
    await checkAccess("an empty page");
    assert.ok(lines.length >= 11, `${lines.length} lines are taught`);
    // Bots come first: what is sent as a webhook needs a file of them.
    const turn = (line) => ["/bots", "queue apply", ""].findIndex((text) => line.includes(text));
    lines.sort(([, a], [, b]) => turn(a) - turn(b));
    for (const [path, line] of lines)
      await run("bash", ["-c", line], { cwd: folder, env: environment, timeout: 30_000 }).catch((error) => assert.fail(`${path}: ${line}\n${error.stdout}${error.stderr}`));
    for (const path of new Set(lines.map(([path]) => path))) {
      await page.goto(new URL(path, url).href);
      await settled();
      assert.equal(await page.locator(".empty").count(), 0, `${path} is not filled by what it teaches`);
    }
    rmSync(folder, { recursive: true });
  },
};
