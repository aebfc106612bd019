/** A change triggers the affected services and no others; the passes are counted. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { FixtureObject } from "#embedded-cluster";
import { fieldAt } from "#kube";
import {
  calls,
  environment,
  externalService,
  isCalledBy,
  latticeService,
  secret,
  secretBindings,
  serviceConfig,
  withVariables,
} from "../../../test/builders/lattice-objects.ts";
import { OperatedCluster } from "../../../test/builders/operated-cluster.ts";

const PROVISIONER = (output: string): FixtureObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "bucket", namespace: "lattice-system", labels: { "lattice.dev/provisioner": "true" } },
  data: { "provisioner.yaml": `type: bucket\noutputs:\n  url: {value: "${output}"}\n` },
});

const VARIABLES = withVariables({ A: "1" });
const BINDING = { stripe: { secretRef: { name: "stripe" } } };
const REDIS = { cache: { type: "redis", params: { auth: true } } };

const world: readonly FixtureObject[] = [
  environment("prod"),
  PROVISIONER("s3://one"),
  secret("prod/redis-cache", { password: "p" }),
  secret("prod/stripe", { key: "k" }),
  secret("prod/unused", { key: "k" }),
  serviceConfig("prod/all", { appliesTo: { environment: "prod" }, values: { level: "info" } }),
  serviceConfig("prod/one", { appliesTo: { service: "configured" }, values: { colour: "red" } }),
  secretBindings("prod/one", { service: "bound", bindings: BINDING }),
  externalService("prod/mail", { endpoints: { api: "https://mail.example.com" }, allowedRequesters: ["mailer"] }),
  latticeService("prod/front", { environment: "prod", ...VARIABLES, resources: calls("api") }),
  latticeService("prod/api", { environment: "prod", ...VARIABLES, resources: { ...isCalledBy("front"), ...calls("db") } }),
  latticeService("prod/db", { environment: "prod", ...VARIABLES, resources: isCalledBy("api") }),
  latticeService("prod/mailer", { environment: "prod", resources: { mail: { type: "external-service", direction: "outbound" } } }),
  latticeService("prod/configured", { environment: "prod", ...withVariables({ C: "${config.colour}" }) }),
  latticeService("prod/bound", { environment: "prod", ...withVariables({ S: "${secrets.stripe.key}" }) }),
  latticeService("prod/cached", { environment: "prod", ...withVariables({ P: "${resources.cache.password}" }), resources: REDIS }),
  latticeService("prod/stored", {
    environment: "prod",
    ...withVariables({ U: "${resources.b.url}" }),
    resources: { b: { type: "bucket" } },
  }),
  latticeService("other/alone", {}),
];

const IN_PROD = ["api", "bound", "cached", "configured", "db", "front", "mailer", "stored"];

type Row = { readonly name: string; readonly change: FixtureObject; readonly want: readonly string[]; readonly rolls?: readonly string[] };

const rows: readonly Row[] = [
  {
    name: "an image: the service alone, though others call it",
    change: latticeService("prod/api", {
      environment: "prod",
      containers: { main: { image: "another:2", variables: { A: "1" } } },
      resources: { ...isCalledBy("front"), ...calls("db") },
    }),
    want: ["api"],
    rolls: ["api"],
  },
  {
    name: "a callee's port: its callers too",
    change: latticeService("prod/db", {
      environment: "prod",
      ...VARIABLES,
      resources: isCalledBy("api"),
      service: { ports: { http: { port: 9090 } } },
    }),
    want: ["api", "db"],
  },
  {
    name: "a withdrawn agreement: both sides",
    change: latticeService("prod/api", { environment: "prod", ...VARIABLES, resources: calls("db") }),
    want: ["api", "db", "front"],
  },
  {
    name: "a config for one service: that service",
    change: serviceConfig("prod/one", { appliesTo: { service: "configured" }, values: { colour: "blue" } }),
    want: ["configured"],
    rolls: ["configured"],
  },
  {
    name: "a config for an environment: the services in it",
    change: serviceConfig("prod/all", { appliesTo: { environment: "prod" }, values: { level: "debug" } }),
    want: IN_PROD,
  },
  {
    name: "a secret: the services whose templates read it",
    change: secret("prod/redis-cache", { password: "another" }),
    want: ["cached"],
    rolls: ["cached"],
  },
  {
    name: "a bound secret: the services whose templates read it",
    change: secret("prod/stripe", { key: "l" }),
    want: ["bound"],
    rolls: ["bound"],
  },
  { name: "a secret that no service reads: none", change: secret("prod/unused", { key: "l" }), want: [] },
  {
    name: "a binding for one service: that service",
    change: secretBindings("prod/one", { service: "bound", bindings: { ...BINDING, more: { secretRef: { name: "stripe" } } } }),
    want: ["bound"],
  },
  {
    name: "an environment: the services in it",
    change: environment("prod", { ingressDomain: "example.com" }),
    want: IN_PROD,
  },
  {
    name: "a provisioner: the services that use its type",
    change: PROVISIONER("s3://two"),
    want: ["stored"],
    rolls: ["stored"],
  },
  {
    name: "an external service: the services that call it",
    change: externalService("prod/mail", { endpoints: { api: "https://mail2.example.com" }, allowedRequesters: ["mailer"] }),
    want: ["mailer"],
  },
  {
    name: "a label on a service: the service alone",
    change: { ...latticeService("other/alone", {}), metadata: { name: "alone", namespace: "other", labels: { team: "x" } } },
    want: ["alone"],
  },
];

/** One cluster for all rows: the changes are independent of each other. */
let operated: OperatedCluster;
beforeAll(async () => {
  operated = await OperatedCluster.start({ objects: world });
  await operated.live(4_000, 200);
}, 60_000);
afterAll(() => operated[Symbol.asyncDispose]());

/** The hash whose change restarts pods. */
async function templateOf(name: string): Promise<string> {
  const deployment = await operated.read("Deployment", `prod/${name}`);
  return JSON.stringify(fieldAt(deployment, "spec", "template"));
}

describe("a change re-reconciles exactly the affected services", () => {
  test.each(rows)("$name", async ({ change, want, rolls = [] }) => {
    const before = await Promise.all(rolls.map(templateOf));
    operated.lines.length = 0;
    await operated.apply(change);
    await operated.live(4_000, 200);
    const passes = operated.lines.filter(({ message, fields }) => message === "reconciled" && fields["controller"] === "service");
    expect([...new Set(passes.map(({ fields }) => String(fields["name"])))].toSorted()).toEqual(want);
    const after = await Promise.all(rolls.map(templateOf));
    expect(after.filter((template, at) => template === before[at])).toEqual([]);
    expect(passes.every(({ fields }) => fields["result"] === "settled")).toBe(true);
  });
});
