// Texts for URLs and for shells.
export const enc = encodeURIComponent;
export const quoted = (text: string) => (/^[A-Za-z0-9._\/:@][A-Za-z0-9._\/:@-]*$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
