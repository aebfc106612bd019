/**
 * Services of a few kilobytes that expand to gigabytes: params that double each other, templates with very many placeholders, very many
 * errors. Each fails alone, again after a restart, and the other services run.
 */
import { expect, test } from "vitest";
import { fieldAt, type KubeObject } from "#kube";
import { doublingResources } from "../../builders/attacks/doubling-service.ts";
import { MeasuredOperator } from "../../builders/attacks/measured-operator.ts";

const container = (fields: object = {}) => ({ main: { image: "myapp:v1", ...fields } });

function service(name: string, spec: object): KubeObject {
  const metadata = { name, namespace: "shop" };
  return { apiVersion: "lattice.dev/v1alpha1", kind: "LatticeService", metadata, spec } as unknown as KubeObject;
}

const many = <T>(count: number, make: (at: number) => readonly [string, T]) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => make(at)));

const honest = (name: string) =>
  service(name, { containers: container({ variables: { NAME: "${metadata.name}" } }), service: { ports: { http: { port: 80 } } } });

type Hostile = readonly [KubeObject, string];

/** Each with a part of its status message. */
const hostile = (suffix: string): readonly Hostile[] => [
  [
    service(`doubling${suffix}`, {
      containers: container({ variables: { A: "${resources.r24.url}" } }),
      resources: doublingResources(25, 15),
    }),
    "the rendered templates of the service up to this one have more than 1048576 bytes together",
  ],
  [
    service(`doubling-long${suffix}`, { containers: container(), resources: doublingResources(25, 2_000) }),
    "params.database: the rendered templates of the service up to this one have more than 1048576 bytes together",
  ],
  [
    service(`placeholders${suffix}`, {
      containers: container({ variables: many(20, (at) => [`V${at}`, "${metadata.name}".repeat(3_000)]) }),
    }),
    "the templates of the service up to this one have more than 10000 placeholders together",
  ],
  [
    service(`mistakes${suffix}`, { containers: container({ variables: many(256, (at) => [`V${at}`, "${metadata.nane}".repeat(250)]) }) }),
    "metadata has no 'nane'; did you mean \"name\"?",
  ],
  [
    service(`parameters${suffix}`, {
      containers: container(),
      resources: many(128, (at) => [
        `r${at}`,
        { direction: "inbound", params: many(64, (n) => [`${"p".repeat(60)}${n}`, "${metadata.name}"]) },
      ]),
    }),
    "unknown parameter; there are ports, methods, paths",
  ],
];

test("services that expand beyond the limits fail alone, and again after a restart of the operator", { timeout: 120_000 }, async () => {
  await using operator = await MeasuredOperator.prepare();
  await operator.create("", "namespaces", { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } });
  await operator.createServices(...hostile("").map(([object]) => object), honest("catalog"));
  await operator.start();
  await expectFailed(operator, hostile(""), ["catalog"]);
  await operator.process.expectWithinLimits("doubling params, first start");
  // the services of the first start are read again, and more are added
  await operator.restart();
  await operator.createServices(...hostile("-again").map(([object]) => object), honest("frontend"));
  await expectFailed(operator, hostile("-again"), ["frontend"]);
  await operator.process.expectWithinLimits("doubling params, restart");
});

async function expectFailed(operator: MeasuredOperator, services: readonly Hostile[], honestNames: readonly string[]): Promise<void> {
  for (const name of honestNames) {
    await operator.until(`/apis/apps/v1/namespaces/shop/deployments/${name}`, (body) => fieldAt(body, "kind") === "Deployment");
  }
  for (const [{ metadata }, message] of services) {
    const failed = await operator.untilPhase(`shop/${metadata.name}`, "Failed");
    expect(fieldAt(failed, "status", "message"), metadata.name).toContain(message);
    expect(JSON.stringify(fieldAt(failed, "status")).length, metadata.name).toBeLessThan(8_192);
  }
}
