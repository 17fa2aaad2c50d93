// A client whose types openapi-typescript makes of openapi.json. It is compiled with --strict, so
// what the document says wrongly of a field does not compile here, and run against a server.
import type { components, paths } from "./tenure";

type Schemas = components["schemas"];
type Body<Path extends keyof paths, Method extends "post" | "put"> = paths[Path] extends {
  [M in Method]: { requestBody: { content: { "application/json": infer Json } } };
}
  ? Json
  : never;

declare const process: { argv: string[]; exitCode: number };
const server = process.argv[2] ?? "";  // its URL

async function send<Answer>(method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(server + path, {
    method,
    headers: { "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  if (!response.ok) {
    const problem = answer as Schemas["Problem"];
    throw new Error(`${problem.status} ${problem.title}: ${problem.detail}`);
  }
  return answer as Answer;
}

// Only what is required is said: a field that the server fills in may be left out.
const session: Body<"/sessions", "put"> = {
  userObjectId: "6f9619ff-8b86-4011-b42d-00c04fc964ff",
  tenantObjectId: "11111111-1111-4111-8111-111111111111",
  capacityId: "22222222-2222-4222-8222-222222222222",
  sessionKind: 1,
};
const wish: Body<"/api/v1/leases/{name}/acquire", "post"> = {
  holder: "client",
  term: "0190c2a0-5f3e-7c4d-8a1b-2c3d4e5f6071",
  ttl_ms: 5_000,
  metadata: { version: "1.2", tags: ["a", { deep: true }] },
};
const message: Schemas["NewMessage"] = {
  topic: "mail",
  payload: { to: "ann@example.com" },
  headers: { trace: "abc" },
};
const claim: Body<"/api/v1/messages/claim", "post"> = { topics: ["mail"], owner: "client" };
const redrive: Schemas["RedriveDeadLetters"] = { topic: "mail" };

// What is not in the document does not compile.
// @ts-expect-error a field that does not exist
const stranger: Schemas["NewMessage"] = { topic: "mail", colour: "red" };
// @ts-expect-error a required field is missing
const incomplete: Schemas["AcquireLease"] = { ttl_ms: 5_000 };
// @ts-expect-error a kind that does not exist
const beyond: Schemas["SessionKind"] = 4;
void [stranger, incomplete, beyond];

async function main(): Promise<void> {
  const put = await send<Schemas["PutSessionResult"]>("PUT", "/sessions", session);
  const ends: string = put.sessionEndUtc;
  const grant = await send<Schemas["Grant"]>("POST", "/api/v1/leases/job/acquire", wish);
  const lease = await send<Schemas["LeaseWithHistory"]>("GET", "/api/v1/leases/job");
  const tags: unknown = lease.metadata?.["tags"];
  await send<Schemas["Enqueued"]>("POST", "/api/v1/messages", message);
  const claimed = await send<Schemas["ClaimedMessages"]>("POST", "/api/v1/messages/claim", claim);
  const trace: unknown = claimed.messages[0]?.headers?.["trace"];
  const redriven = await send<Schemas["RedrivenDeadLetters"]>(
    "POST", "/api/v1/dead-letters/redrive", redrive);
  const health = await send<Schemas["Health"]>("GET", "/health");
  const failed: string[] = health.tasks.filter((task) => task.status === "failed").map((task) => task.name);
  const audit = await send<Schemas["AuditList"]>("GET", "/api/v1/audit?limit=1");
  const detail: unknown = audit.items[0]?.detail?.["reason"];
  void [ends, detail];
  console.log(JSON.stringify({
    status: put.status, fence: grant.fence, tags, trace, redriven: redriven.redriven,
    engine: health.store.engine, failed,
  }));
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
