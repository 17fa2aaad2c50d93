// The pictures of README and docs/, of a server with `tenure demo`: packaging/pictures.
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { kPictures, stamp } from "./stamp.mjs";

const file = (name) => fileURLToPath(new URL(name, kPictures));

export default {
  async "pictures of the overview and of a lease, in light and dark"({ page, open, settled }) {
    await page.setViewportSize({ width: 1200, height: 820 });
    const shoot = async (name, of) => {
      for (const scheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme: scheme });
        await settled();
        await (of ?? page).screenshot({ path: file(`${name}-${scheme}.png`), animations: "disabled" });
      }
    };
    await open("/", "Overview");
    await page.getByLabel("times").selectOption("utc");
    // A line needs two values, one for each 10 seconds.
    await page.waitForFunction(() => document.querySelectorAll(".figures .spark").length >= 4 && document.querySelectorAll(".attention li").length >= 2, undefined, { timeout: 60_000 });
    // Leases are counted once a minute.
    await page.locator(".figure").filter({ hasText: "Leases held" }).filter({ hasText: /[1-9]/ }).waitFor({ timeout: 90_000 });
    await page.locator(".chart path[d*=L]").first().waitFor({ state: "attached", timeout: 60_000 });
    await shoot("overview");
    await open("/leases/nightly-report", "Lease nightly-report");
    await page.locator("[data-sentence]").getByText("nightly-report is held by").waitFor();
    await shoot("why", page.locator("section.why"));
    writeFileSync(file("stamp"), stamp() + "\n");
  },
};
