// The page in a real browser: node run.mjs GIVEN PART... , where GIVEN is JSON (stage.mjs) and a PART a file beside this one.
import { play, raise } from "./stage.mjs";

const [given, ...names] = process.argv.slice(2);
const parts = await Promise.all(names.map(async (name) => (await import(name.startsWith("/") ? name : `./${name}.mjs`)).default));
await play(await raise(JSON.parse(given)), parts);
