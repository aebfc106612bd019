import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { field, parseYaml } from "#kube";
import { invalidResources, invalidUpdates } from "../../test/builders/invalid-resources.ts";
import { rawCluster, rawClusterOn, rawContainer, rawEnvironment, rawObjects, rawService } from "../../test/builders/valid-resources.ts";
import { defaultCanary, formatFieldError, latticeKinds, parseLatticeCluster, parseLatticeObject, parseLatticeService } from "./index.ts";

const examples = join(import.meta.dirname, "../../examples");
const files = readdirSync(examples).filter((file) => file.endsWith(".yaml"));

const BUILT_IN: readonly unknown[] = ["v1", "apps/v1"];

/** The Lattice objects of an example; the files also contain Secrets, namespaces and a Deployment. */
function readExample(file: string): readonly unknown[] {
  const documents = expectOk(parseYaml(readFileSync(join(examples, file), "utf8")));
  return documents.filter((document) => !BUILT_IN.includes(field(document, "apiVersion")));
}

function mistakes(value: unknown): readonly string[] {
  const parsed = parseLatticeObject(value);
  return parsed.ok ? [] : parsed.error.map(formatFieldError);
}

describe("an invalid object", () => {
  it.each(invalidResources)("$name", ({ given, wantPath, wantMessage }) => {
    const parsed = parseLatticeObject(given);
    const errors = parsed.ok ? [] : parsed.error;
    expect(errors).toContainEqual(expect.objectContaining({ path: wantPath, message: expect.stringContaining(wantMessage) }));
    expect(errors.map(({ path }) => path)).toEqual(errors.map(() => wantPath));
  });

  it("is in the table for every rule of every kind", () => {
    const messages = latticeKinds.flatMap(({ crd }) => rulesIn(crd().spec.versions[0]?.schema.openAPIV3Schema));
    const rows = [...invalidResources, ...invalidUpdates];
    expect(messages.length).toBeGreaterThan(60);
    expect(messages.filter((message) => !rows.some(({ wantMessage }) => message.includes(wantMessage)))).toEqual([]);
  });

  it("is rejected with all errors at once", () => {
    const given = rawService({ replica: 1, replicas: { min: 3, max: 2 }, containers: { main: { image: 1, variables: { A: true } } } });
    expect(mistakes(given)).toEqual([
      "spec.containers[main].image: must be a string, and is a number; put it in quotes",
      "spec.containers[main].variables[A]: must be a string, and is a boolean; put it in quotes",
      "spec.replicas.min: min must not be above max",
      'spec.replica: unknown field "spec.replica"; did you mean "replicas"?',
    ]);
  });

  it("has no error that contains the value of a free-form string", () => {
    const secret = "hunter2 hunter2";
    const given = rawContainer({ image: secret, files: { "/a": { content: "", mode: secret } }, variables: { A: [secret] } });
    expect(mistakes(given)).toHaveLength(4);
    expect(mistakes(given).join("\n")).not.toContain(secret);
  });
});

function rulesIn(schema: unknown): readonly string[] {
  if (typeof schema !== "object" || schema === null) return [];
  const own = "x-kubernetes-validations" in schema ? (schema["x-kubernetes-validations"] as readonly { message: string }[]) : [];
  return [...own.map(({ message }) => message), ...Object.values(schema).flatMap(rulesIn)];
}

describe("a valid object", () => {
  it.each(rawObjects)("the smallest $kind", (given) => {
    expect(mistakes(given)).toEqual([]);
  });

  it.each(files)("examples/%s", (file) => {
    expect(readExample(file).flatMap(mistakes)).toEqual([]);
  });

  it("the examples contain every kind", () => {
    const shown = new Set(files.flatMap((file) => readExample(file).map((object) => expectOk(parseLatticeObject(object)).kind)));
    expect([...shown].toSorted()).toEqual(latticeKinds.map(({ kind }) => kind).toSorted());
  });

  const patch = { workloadRef: { name: "a", namespace: "b" } };
  const rows = [
    { name: "patch mode without containers", given: rawService({ ...patch, containers: undefined }) },
    { name: "patch mode without images", given: rawService({ ...patch, containers: { main: { variables: { A: "b" } } } }) },
    { name: "a patch of a probe's timing", given: rawService({ ...patch, containers: { main: { livenessProbe: { periodSeconds: 5 } } } }) },
    {
      name: "a patch that orders containers of the Deployment",
      given: rawService({ ...patch, containers: { main: { before: ["other"] } } }),
    },
    {
      name: "ownership mode, as the design shows it",
      given: rawService({
        containers: { main: { image: "nginx:latest", variables: { REDIS_HOST: "${service.config.redis.host}" } } },
        resources: { "auth-service": { direction: "outbound" } },
      }),
    },
    { name: "nine control planes", given: rawCluster({ nodes: { controlPlane: 9, workers: 0 } }) },
    { name: "a version with v and build", given: rawClusterOn({ kubernetes: { version: "v1.36.3-rc.1+build.5" } }) },
    { name: "an environment named like a system namespace that has another", given: rawEnvironment({ namespace: "prod" }, "kube-system") },
    {
      name: "the same port for TCP and UDP",
      given: rawService({ service: { ports: { a: { port: 53 }, b: { port: 53, protocol: "UDP" } } } }),
    },
    { name: "what kubectl writes into metadata", given: { ...rawCluster(), metadata: { name: "row", creationTimestamp: null } } },
    {
      name: "a status that a newer operator wrote",
      given: { ...rawCluster(), status: { phase: "Ready", news: 1, pools: { default: { ready: 1, x: 2 } } } },
    },
  ];
  it.each(rows)("$name", ({ given }) => {
    expect(mistakes(given)).toEqual([]);
  });
});

describe("defaults", () => {
  it("are the same as on the API server", () => {
    const given = rawCluster({ endpoints: { host: "cell" } });
    expect(expectOk(parseLatticeCluster(given)).spec).toEqual({
      ...given.spec,
      endpoints: { host: "cell", grpcPort: 50_051, bootstrapPort: 8_443, proxyPort: 8_444, service: { type: "LoadBalancer" } },
      deletion: { unpivot: true },
    });
  });

  it("replace null, which without a default counts as absent", () => {
    const given = rawService({
      deploy: null,
      replicas: { min: null },
      resources: { api: { type: null, params: null, metadata: { x: null } }, none: null },
    });
    expect(expectOk(parseLatticeService(given)).spec).toEqual({
      containers: { main: { image: "nginx:1.29" } },
      replicas: { min: 1 },
      resources: { api: { type: "service", direction: "outbound", params: {}, metadata: { x: null } } },
    });
  });

  it("are not set in patch mode: absent fields are not patched", () => {
    const { spec } = expectOk(parseLatticeService(rawService({ workloadRef: { name: "a", namespace: "b" }, containers: undefined })));
    expect(spec).toEqual({ workloadRef: { kind: "Deployment", name: "a", namespace: "b" } });
  });
});

describe("status", () => {
  const condition = { type: "Ready", status: "True", reason: "Compiled", message: "", lastTransitionTime: "2026-01-31T12:00:00Z" };
  const withStatus = (status: object) => ({ ...rawCluster(), status });

  it("accepts Kubernetes conditions, and drops unknown fields", () => {
    const { status } = expectOk(parseLatticeCluster(withStatus({ phase: "Ready", conditions: [condition], later: 1 })));
    expect(status).toEqual({ phase: "Ready", conditions: [condition] });
  });

  const rows = [
    { name: "a phase there is not", given: { phase: "Done" }, want: "status.phase: must be one of Pending, Provisioning" },
    { name: "a condition twice", given: { conditions: [condition, condition] }, want: "status.conditions[1]: is in the list already" },
    {
      name: "a time that is none",
      given: { conditions: [{ ...condition, lastTransitionTime: "yesterday" }] },
      want: "status.conditions[0].lastTransitionTime: must be a time as RFC 3339 writes it",
    },
    {
      name: "more pools than can be",
      given: { pools: Object.fromEntries(Array.from({ length: 65 }, (_, index) => [`pool-${index}`, {}])) },
      want: "status.pools: must have at most 64 entries, and has 65",
    },
  ];
  it.each(rows)("refuses $name", ({ given, want }) => {
    expect(mistakes(withStatus(given))).toEqual([expect.stringContaining(want)]);
  });
});

it("a canary without settings gets the defaults of an empty block", () => {
  const { spec } = expectOk(parseLatticeService(rawService({ deploy: { strategy: "canary", canary: {} } })));
  expect(defaultCanary()).toEqual(spec.deploy?.canary);
  expect(defaultCanary()).toEqual({ interval: "1m", threshold: 5, maxWeight: 50, stepWeight: 10 });
});

describe("checkUpdate", () => {
  const kindOf = (name: string) => latticeKinds.find(({ kind }) => kind === name);

  it.each(invalidUpdates)("refuses $name", ({ before, after, wantPath, wantMessage }) => {
    const errors = kindOf(before.kind)?.checkUpdate(expectOk(parseLatticeObject(before)), expectOk(parseLatticeObject(after)));
    expect(errors).toEqual([{ kind: "immutable", path: wantPath, message: wantMessage }]);
  });

  it("allows changes of machines and versions", () => {
    const before = expectOk(parseLatticeObject(rawCluster()));
    const after = expectOk(parseLatticeObject(rawClusterOn({ kubernetes: { version: "1.37.0" } })));
    expect(kindOf("LatticeCluster")?.checkUpdate(before, after)).toEqual([]);
  });

  it("allows another node image together with its version", () => {
    const before = expectOk(parseLatticeObject(rawClusterOn({ docker: { image: "kindest/node:v1.36.3" } })));
    const provider = { docker: { image: "kindest/node:v1.37.0" }, kubernetes: { version: "v1.37.0" } };
    expect(kindOf("LatticeCluster")?.checkUpdate(before, expectOk(parseLatticeObject(rawClusterOn(provider))))).toEqual([]);
  });

  it("returns no errors for objects of another kind", () => {
    const service = expectOk(parseLatticeObject(rawService()));
    expect(kindOf("LatticeCluster")?.checkUpdate(service, service)).toEqual([]);
  });
});

describe("parseLatticeObject", () => {
  const rows: { name: string; given: unknown; want: string }[] = [
    { name: "a list", given: [], want: "must be an object with apiVersion, kind, metadata and spec" },
    { name: "nothing", given: undefined, want: "must be an object with apiVersion, kind, metadata and spec" },
    { name: "no kind", given: { apiVersion: "lattice.dev/v1alpha1" }, want: "kind: must be one of LatticeCluster, LatticeEnvironment" },
    { name: "no apiVersion", given: { kind: "LatticeCluster" }, want: 'apiVersion: must be "lattice.dev/v1alpha1"' },
    {
      name: "an older version",
      given: { apiVersion: "lattice.dev/v1", kind: "LatticeCluster" },
      want: 'apiVersion: must be "lattice.dev/v1alpha1", and is "lattice.dev/v1"',
    },
    {
      name: "a kind of another group",
      given: { apiVersion: "apps/v1", kind: "Deployment" },
      want: 'apiVersion: must be "lattice.dev/v1alpha1", and is "apps/v1": Deployment is not a kind of Lattice',
    },
    {
      name: "a misspelt kind",
      given: { apiVersion: "lattice.dev/v1alpha1", kind: "LatticeServce" },
      want: 'kind: unknown kind "LatticeServce"; did you mean "LatticeService"?',
    },
    {
      name: "a kind that is like none",
      given: { apiVersion: "lattice.dev/v1alpha1", kind: "Pod" },
      want: 'kind: unknown kind "Pod"; there are LatticeCluster, LatticeEnvironment',
    },
  ];
  it.each(rows)("explains $name", ({ given, want }) => {
    expect(mistakes(given)).toEqual([expect.stringContaining(want)]);
  });

  it("the parser of a kind rejects another kind", () => {
    const parsed = parseLatticeCluster(rawService());
    expect(parsed.ok ? [] : parsed.error.map(formatFieldError)).toContain('kind: must be "LatticeCluster", and is "LatticeService"');
  });
});
