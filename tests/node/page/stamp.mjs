// Whether the pictures of the documents are of the page as it is: node stamp.mjs. What they show follows from
// these sources; the stamp beside them is the hash of those that they were made from.
import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";

const root = new URL("../../../", import.meta.url);
export const kPictures = new URL("docs/pictures/", root);
const kShown = ["dashboard/src", "dashboard/src/parts", "dashboard/src/pages/overview", "dashboard/src/pages/leases"];

export function stamp() {
  const hash = createHash("sha256");
  for (const folder of kShown)
    for (const file of readdirSync(new URL(folder + "/", root), { withFileTypes: true }))
      if (file.isFile() && /\.(tsx|css)$/.test(file.name)) hash.update(`${folder}/${file.name}\n`).update(readFileSync(new URL(`${folder}/${file.name}`, root)));
  return hash.digest("hex");
}

if (process.argv[1] === new URL(import.meta.url).pathname && readFileSync(new URL("stamp", kPictures), "utf8").trim() !== stamp()) {
  console.log("The page has changed since the pictures in docs/pictures were made of it. Make them anew: packaging/pictures");
  process.exitCode = 1;
}
