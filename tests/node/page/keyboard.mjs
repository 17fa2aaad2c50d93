// The whole walk without a mouse.
import assert from "node:assert/strict";
import { kDesk, kPhone } from "./stage.mjs";

export default {
  async "the whole walk by the keyboard alone, with the focus to be seen, also on a phone"({ url, page, dialog, open, api, acquire, bury, token, once, checkWidth }) {
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
    for (const [n, size] of (once ? [kDesk, kPhone] : [kDesk]).entries()) {
      const topic = `walk-${n}`;
      const lease = `walked/${n}`;
      await acquire(lease, "many");
      await bury(topic, "no");
      await page.setViewportSize(size);
      await open("/", "Overview");
      if (token) {
        await tabTo("Sign out");
        await page.keyboard.press("Enter");
        await page.getByRole("heading", { name: "Sign in" }).waitFor();
        await tabTo("Token");
        await page.keyboard.insertText(token);
        await page.keyboard.press("Enter");
        await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
        await page.getByRole("region", { name: "Figures" }).waitFor();
      }
      await page.keyboard.press("/");
      await dialog.getByRole("combobox").waitFor();
      await page.keyboard.type(lease);
      await page.getByRole("option", { name: new RegExp(lease) }).waitFor();
      await page.keyboard.press("Enter");
      await page.locator("[data-sentence]").getByText(`${lease} is held by many`).waitFor();
      await tabTo(`Break ${lease}`);
      await page.keyboard.press("Enter");
      await actWith("host gone", `Break ${lease}`);
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
      await checkWidth("the walk");
    }
    await page.setViewportSize(kDesk);
  },
};
