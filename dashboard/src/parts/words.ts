// Texts for URLs and for shells.
import { base } from "../api";
import { me } from "../session";

export const enc = encodeURIComponent;
export const quoted = (text: string) => (/^[A-Za-z0-9._\/:@][A-Za-z0-9._\/:@-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** This server's address, as programs ask it. */
export const origin = location.origin + base.replace(/\/$/, "");

/** A command as it finds this server from the reader's machine, unless it looks there by itself. */
export const asking = (command: string) => (origin === "http://127.0.0.1:8080" ? command : command.replace(/^tenure /, `tenure --server ${origin} `));

/** A curl line that says who asks, where that is asked. */
export const withToken = (line: string) => (me.value?.mode === "token" ? line.replace(/^curl /, `curl -H "Authorization: Bearer $TENURE_TOKEN" `) : line);
