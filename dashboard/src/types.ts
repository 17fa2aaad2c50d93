// What the API answers, by path, from openapi.json. `tsc` makes the types of it when the page is checked
// (tests/browser); the build takes all of this away.
import type { paths } from "openapi";

type JsonOf<Answer> = Answer extends { content: { "application/json": infer Body } } ? Body : never;

/** What a GET of this path answers. */
export type AnswerOf<P extends keyof paths> = paths[P] extends { get: { responses: { 200: infer Answer } } } ? JsonOf<Answer> : never;

/** Paths whose answers have `items`. */
export type ListPath = { [P in keyof paths]: AnswerOf<P> extends { items: unknown[] } ? P : never }[keyof paths];
export type ItemOf<P extends ListPath> = AnswerOf<P> extends { items: (infer Item)[] } ? Item : never;

/** "/api/v1/leases/{name}" as it is asked for: with a name in it. */
type Filled<P extends string> = P extends `${infer Before}{${string}}${infer After}` ? `${Before}${string}${Filled<After>}` : P;
export type Query = "" | `?${string}`;
export type Asked<P extends keyof paths> = `${Filled<P>}${Query}`;
export type LookPath = keyof paths;
