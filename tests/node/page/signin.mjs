// Who reads the page: tokens, good and bad; what they may not see.
import assert from "node:assert/strict";

export default {
  async "what is no token is refused with a reason, and the page asks again"({ url, page, tokens, signIn }) {
    await page.goto(url + "/ui/leases");
    const button = page.getByRole("button", { name: "Sign in" });
    await button.waitFor();
    assert.ok(await button.isDisabled(), "without a token");
    for (const none of ["two words", "naïve☃", "x".repeat(8001)]) {
      await page.getByLabel("Token").fill(none);
      await page.getByText("This is no token").waitFor();
      assert.ok(await button.isDisabled(), none);
    }
    for (const bad of ["nonsense", "a.b.c", tokens.expired, tokens.audience]) {
      await signIn(bad);
      await page.getByRole("alert").waitFor();
      assert.ok((await page.getByRole("alert").innerText()).length > 10, "it says why");
      await button.waitFor();
    }
    assert.equal(await page.evaluate(() => sessionStorage.length), 0, "a refused token is kept nowhere");
  },

  async "a token is asked for, shared with tabs of the page, and forgotten by all of them"({ url, page, context, token, signIn, checkAccess }) {
    await page.goto(url + "/ui/leases");
    await page.getByLabel("Token").waitFor();
    await checkAccess("the question for a token");
    await signIn("Bearer " + token);
    await page.getByRole("heading", { level: 1, name: "Leases" }).waitFor();
    const other = await context.newPage();
    await other.goto(url + "/ui/topics");
    await other.getByRole("heading", { level: 1, name: "Topics" }).waitFor();
    await other.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Token").waitFor();
    await signIn(token);
    await page.getByRole("heading", { level: 1, name: "Leases" }).waitFor();
    await other.close();
    const kept = await page.evaluate(() => [JSON.stringify(localStorage), document.cookie, location.href].join());
    assert.ok(!kept.includes(token.slice(-20)), "it is in sessionStorage alone");
  },

  async "a token that ends soon is said to, and one that ended is asked for anew where the reader is"({ another, url, tokens, signIn, open, acquire, audit }) {
    const page = await another();
    await acquire("ends-soon");
    await page.goto(url + "/ui/leases");
    await signIn(tokens.soon, page);
    await page.getByText("The token ends at").waitFor();
    await open("/leases/ends-soon", "Lease ends-soon", page);
    await page.getByRole("button", { name: "Break ends-soon…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Reason").fill("too late");
    await page.route("**/api/**", (route) =>
      route.fulfill({ status: 401, contentType: "application/problem+json", body: JSON.stringify({ type: "urn:tenure:problem:unauthorized", title: "A token is needed", status: 401, detail: "The token has expired.", request_id: "r" }) }));
    await dialog.getByRole("button", { name: "Break ends-soon" }).click();
    await dialog.getByText("Nothing was changed").waitFor();
    await page.unroute("**/api/**");
    await page.keyboard.press("Escape");
    await signIn(tokens.all, page);
    await page.getByRole("heading", { level: 1, name: "Lease ends-soon" }).waitFor();
    await page.getByRole("button", { name: "Break ends-soon…" }).waitFor();
    assert.equal((await audit("lease.break")).filter(({ object }) => object === "ends-soon").length, 0, "a look is repeated, an act is not");
    await page.context().close();
  },

  async "with a token without scopes, or with unknown ones, nothing is shown, and that is explained"({ another, url, tokens, signIn, menu }) {
    for (const token of [tokens.none, tokens.odd]) {
      const page = await another();
      await page.goto(url + "/ui/");
      await signIn(token, page);
      await page.getByText("lacks the scope ops:read").waitFor();
      assert.deepEqual(await menu(page).allTextContents(), ["Overview"]);
      await page.goto(url + "/ui/account");
      await page.getByText("Leases: the token lacks the scope leases:read").waitFor();
      await page.context().close();
    }
  },

  async "each page says which scope a token lacks for it, and acts that it may not do say so"({ another, url, page, tokens, signIn, menu, acquire, settled, checkAccess }) {
    await acquire("of-others");
    await page.goto(url + "/ui/");
    await menu().first().waitFor();
    const pages = await menu().evaluateAll((links) => links.map((link) => [link.textContent, new URL(link.href).pathname]));
    const reader = await another();
    await reader.goto(url + "/ui/leases");
    await signIn(tokens.reader, reader);
    await reader.getByRole("link", { name: "of-others" }).waitFor();
    assert.deepEqual(await menu(reader).allTextContents(), ["Overview", "Leases"]);
    for (const [title, path] of pages) {
      if (title === "Overview" || title === "Leases") continue;
      await reader.goto(new URL(path, url).href);
      await reader.getByRole("heading", { level: 1, name: title, exact: true }).waitFor();
      await reader.getByRole("alert").first().getByText(/scope/).first().waitFor();
      await settled(reader);
    }
    await checkAccess("a page that may not be read", reader);
    await reader.goto(url + "/ui/leases/of-others");
    await reader.locator("[data-sentence]").getByText("of-others is held by").waitFor();
    assert.ok(await reader.getByRole("button", { name: "Break of-others…" }).isDisabled());
    await reader.getByText("The token lacks the scope admin").first().waitFor();
    await reader.context().close();
  },
};
