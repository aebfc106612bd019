/** Webhooks with oversized responses: the size of a response and the number of warnings are limited. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Json } from "#kube";
import { startMeasuredApiServer, type MeasuredApiServer } from "../../builders/attacks/measured-api-server.ts";
import { startAttackWebhook, type AttackWebhook } from "../../builders/attacks/webhook.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const MIB = 1024 * 1024;

let server: MeasuredApiServer;
let webhook: AttackWebhook;

beforeAll(async () => {
  server = await startMeasuredApiServer({ controllers: false });
  webhook = await startAttackWebhook();
  const { clientConfig } = webhook;
  const rules = [{ apiGroups: [""], apiVersions: ["v1"], operations: ["*"], resources: ["configmaps"] }];
  const hook = { name: "attack.x.dev", clientConfig, rules, sideEffects: "None", admissionReviewVersions: ["v1"], failurePolicy: "Fail" };
  const path = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
  expect(await server.exchange.request({ method: "POST", path, body: { metadata: { name: "attack" }, webhooks: [hook] } })).toMatchObject({
    code: 201,
  });
});

afterAll(async () => {
  await webhook[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const create = (name: string) => server.exchange.request({ method: "POST", path: MAPS, body: { metadata: { name } } });
const texts = (count: number, text: (at: number) => string): Json => Array.from({ length: count }, (_, at) => text(at));

test("a response of 40 MB is rejected with the limit", async () => {
  webhook.more = { warnings: ["x".repeat(40 * MIB)] };
  expect(await create("huge")).toMatchObject({
    code: 500,
    body: { message: expect.stringContaining(`failed to call webhook: the response is larger than ${4 * MIB} bytes`) as string },
  });
  await server.process.expectWithinLimits("a webhook that answers 40 MB");
});

test.each([
  { name: "one long warning", more: { warnings: ["x".repeat(3.9 * MIB)] } },
  { name: "one long warning of wide characters", more: { warnings: ["\u{1f600}".repeat(0.9 * MIB)] } },
  { name: "many short warnings", more: { warnings: texts(200_000, (at) => `warning-${at}`) } },
  {
    name: "many audit annotations",
    more: { auditAnnotations: Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`a${at}`, "x"])) },
  },
])("$name: the request succeeds, and the warnings are truncated", async ({ name, more }) => {
  await server.process.reset();
  webhook.more = more;
  expect(await create(name.replaceAll(" ", "-"))).toMatchObject({ code: 201 });
  await server.process.expectWithinLimits(name);
});
