/**
 * A sensitive value of a service in patch mode is in the `data` of Secrets and nowhere else, and a plain value of the owner's Deployment is in the
 * Deployment, its ReplicaSets and its pods and nowhere else: not in objects, events, conditions, warnings, answers of the webhook, logs, metrics or
 * the output of commands, whatever goes wrong.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk, systemClock } from "#base";
import { latticeServices } from "#crds";
import type { FixtureObject } from "#embedded-cluster";
import { deployments, formatYamlDocuments, type Json, type KubeObject } from "#kube";
import { RECORD_ANNOTATION, REQUEST_ANNOTATION } from "#workload-patch";
import { runCli } from "../../test/builders/cli-io.ts";
import { secret } from "../../test/builders/lattice-objects.ts";
import { digestForms, encodedForms } from "../../test/builders/leak-forms.ts";
import {
  CANARY,
  CORE,
  deployment,
  main,
  OWNERS,
  OWNERS_CORE,
  ownersEnv,
  PASSWORD,
  patching,
  quotingPolicy,
  secretsOf,
} from "../../test/builders/leaking-patches.ts";
import { PatchedWorld, until } from "../../test/builders/patched-world.ts";

type Row = {
  readonly name: string;
  readonly namespace: string;
  readonly spec?: object;
  readonly container?: object;
  readonly more?: readonly FixtureObject[];
  /** Of condition WorkloadPatched, else of Ready. */
  readonly reason: string;
  /** Happens then; ends with this reason. */
  readonly next?: { readonly act: (namespace: string) => Promise<void>; readonly reason: string };
  /** Of the webhook, from before the service is deleted until it is gone. */
  readonly outage?: true;
};

const rows: readonly Row[] = [
  { name: "every kind of variable and file", namespace: "all", reason: "Patched" },
  {
    name: "a container that the Deployment lacks",
    namespace: "missing",
    spec: { containers: { main, mian: main } },
    reason: "ContainerMissing",
  },
  {
    name: "a variable that cannot be patched",
    namespace: "skipped",
    container: { env: [...ownersEnv, { name: "LATTICE_LEVEL", value: OWNERS }] },
    reason: "FieldsNotPatched",
  },
  {
    name: "a template beside an error",
    namespace: "mistake",
    spec: { containers: { main: { variables: { A: `${PASSWORD} \${config.nothing}` } } } },
    reason: "CompileError",
  },
  {
    name: "the source of a volume",
    namespace: "volume",
    spec: { containers: { main: { volumes: { "/v": { source: `pvc:${PASSWORD}` } } } } },
    reason: "CompileError",
  },
  {
    name: "a limit below the request of the Deployment",
    namespace: "unfit",
    spec: { containers: { main: { ...main, resources: { limits: { memory: "1Mi" } } } } },
    container: { resources: { requests: { memory: "2Gi" } } },
    reason: "FieldsNotPatched",
  },
  {
    name: "a refusal that quotes the Deployment",
    namespace: "quoted",
    more: quotingPolicy("quoted"),
    reason: "PatchRejected",
  },
  {
    name: "a conflict",
    namespace: "conflict",
    reason: "Patched",
    next: {
      act: async (namespace) => {
        for (let round = 0; round < 3; round += 1) await world.applyAs("argocd-controller", deployment(namespace));
      },
      reason: "PatchConflict",
    },
  },
  {
    name: "a record that cannot be read",
    namespace: "unreadable",
    reason: "Patched",
    next: { act: (namespace) => annotate(namespace, { [RECORD_ANNOTATION]: `${OWNERS}{` }), reason: "Patched" },
  },
  {
    name: "a secret that changes",
    namespace: "rotated",
    reason: "Patched",
    next: {
      act: async (namespace) => {
        await world.apply(secret(`${namespace}/stripe`, { key: `${CANARY}2` }));
        await until(async () => expect(await world.secretTexts(namespace)).toContain(`x${CANARY}2y`));
      },
      reason: "Patched",
    },
  },
  {
    name: "a change to ownership mode and back",
    namespace: "mode",
    reason: "Patched",
    next: {
      act: async (namespace) => {
        const owned = { workloadRef: undefined, containers: { main: { ...main, image: "nginx:1" } } };
        await replaceSpec(namespace, patching(namespace, owned));
        await until(async () => expect(await world.read("Deployment", `${namespace}/web`)).toBeDefined());
        await replaceSpec(namespace, patching(namespace));
      },
      reason: "Patched",
    },
  },
  {
    name: "a change to another Deployment",
    namespace: "other",
    more: [deployment("other", {}, "second")],
    reason: "Patched",
    next: {
      act: async (namespace) => {
        await world.apply(patching(namespace, { workloadRef: { kind: "Deployment", name: "second", namespace } }));
        await until(async () => expect((await world.read("Deployment", `${namespace}/nginx`))?.metadata.labels).toBeUndefined());
      },
      reason: "Patched",
    },
  },
  { name: "a webhook that does not answer while the patch is taken off", namespace: "outage", reason: "Patched", outage: true },
];

let world: PatchedWorld;
let cwd: string;

async function annotate(namespace: string, annotations: Readonly<Record<string, string>>): Promise<void> {
  const body = { type: "merge", patch: { metadata: { annotations } } } as const;
  expectOk(await world.cluster.client.patch(deployments, { namespace, name: "nginx" }, body));
}

async function replaceSpec(namespace: string, service: FixtureObject): Promise<void> {
  const operations = [{ op: "replace", path: "/spec", value: (service as unknown as { readonly spec: Json }).spec }];
  expectOk(await world.cluster.client.patch(latticeServices, { namespace, name: "web" }, { type: "json", operations }));
}

beforeAll(async () => {
  world = await PatchedWorld.start();
  cwd = mkdtempSync(join(tmpdir(), "lattice-patch-leaks-"));
  writeFileSync(join(cwd, "kubeconfig"), await world.cluster.kubeconfig({ http: true }));
  writeFileSync(join(cwd, "secrets.yaml"), formatYamlDocuments([{ "postgres/main-db/password": CANARY, "stripe/key": CANARY }]));
  for (const { namespace, spec, container, more = [] } of rows) {
    const account = { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "nginx", namespace } };
    await world.apply(account, ...secretsOf(namespace), deployment(namespace, container), ...more, patching(namespace, spec));
  }
}, 60_000);
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  rmSync(cwd, { recursive: true });
});

const reached = (namespace: string, reason: string) =>
  until(async () => {
    const conditions = await world.conditions(`${namespace}/web`);
    expect(conditions.get("WorkloadPatched") ?? conditions.get("Ready")).toMatchObject({ reason });
  });

async function runCommands({ namespace, spec, container }: Row): Promise<void> {
  const objects = [deployment(namespace, container), ...secretsOf(namespace).filter((one) => one["kind"] !== "Secret")];
  writeFileSync(join(cwd, "against.yaml"), formatYamlDocuments(objects));
  writeFileSync(join(cwd, "service.yaml"), formatYamlDocuments([patching(namespace, spec)]));
  const commands: readonly (readonly string[])[] = [
    ["patch-preview", "-f", "service.yaml"],
    ["patch-preview", "-f", "service.yaml", "-o", "json"],
    ["patch-preview", "-f", "service.yaml", "--against", "against.yaml", "--secrets", "secrets.yaml"],
    ["detach", "web", "-n", namespace, "--dry-run"],
    ["detach", "web", "-n", namespace, "--dry-run", "-o", "json"],
    ["status", "-A"],
  ];
  for (const argv of commands) {
    const { stdout, stderr } = await runCli(argv, { cwd, clock: systemClock, env: { KUBECONFIG: join(cwd, "kubeconfig") } });
    expect(stdout + stderr).not.toBe("");
    world.addOutput(`lattice ${argv.join(" ")}`, stdout + stderr);
  }
}

/** As the API server asks it: a new Deployment, a write of the stored one, a dry run. */
async function askWebhook({ namespace, container }: Row): Promise<void> {
  const stored = await world.read("Deployment", `${namespace}/nginx`);
  if (stored === undefined) return;
  const fresh = deployment(namespace, container) as KubeObject;
  for (const more of [{}, { operation: "UPDATE", oldObject: stored as unknown as Json }, { dryRun: true }]) await world.review(fresh, more);
  await world.review(stored, { operation: "UPDATE", oldObject: stored as unknown as Json });
}

async function removeService(namespace: string): Promise<void> {
  expectOk(await world.cluster.client.delete(latticeServices, { namespace, name: "web" }));
  await until(async () => expect(await world.read("LatticeService", `${namespace}/web`)).toBeUndefined());
}

/** The operator writes the owner's values itself then. */
async function removeWithoutWebhook(namespace: string): Promise<void> {
  await world.withoutWebhook(async () => {
    expectOk(await world.cluster.client.delete(latticeServices, { namespace, name: "web" }));
    await until(async () => expect((await requested(namespace)) ?? "").toMatch(/^detach-/));
    world.skip(OUTAGE_MS);
    await until(async () => expect(await world.read("LatticeService", `${namespace}/web`)).toBeUndefined());
  });
  // events are written beside the work, and may come after it
  await until(async () => {
    const events = (await world.readable()).filter(({ kind, text }) => kind === "Event" && text.includes(`"namespace":"${namespace}"`));
    expect(events.map(({ text }) => text).join("\n")).toContain("the operator wrote the Deployment itself");
  });
}

/** More than the operator waits for the webhook. */
const OUTAGE_MS = 61_000;

async function requested(namespace: string): Promise<string | undefined> {
  return (await world.read("Deployment", `${namespace}/nginx`))?.metadata.annotations?.[REQUEST_ANNOTATION];
}

const OWNERS_KINDS = new Set(["Deployment", "ReplicaSet", "Pod", "AdmissionReview", "Status", "DeploymentList"]);

async function leaks(namespace: string): Promise<readonly string[]> {
  const forms = [...encodedForms(CORE), ...digestForms([CANARY, OWNERS, ...(await world.secretTexts(namespace))])];
  const ownersForms = encodedForms(OWNERS_CORE);
  return (await world.readable()).flatMap(({ place, kind = "", text }) => {
    const found = [...forms, ...(OWNERS_KINDS.has(kind) ? [] : ownersForms)].filter((form) => text.includes(form));
    return found.map((form) => `${place}: ${text.slice(Math.max(0, text.indexOf(form) - 150), text.indexOf(form) + 80)}`);
  });
}

test("the search finds the values where they belong", async () => {
  await reached("all", "Patched");
  expect(await world.secretTexts("all")).toEqual(expect.arrayContaining([CANARY, `x${CANARY}y`, `a\n${CANARY} ${CANARY}\n`]));
  const holding = (await world.readable()).filter(({ text }) => text.includes(OWNERS_CORE)).map(({ kind }) => kind);
  expect(holding).toEqual(expect.arrayContaining(["Deployment", "ReplicaSet", "Pod"]));
  for (const before of ["", "1", "12", "123"]) {
    const text = Buffer.from(`${before}${CANARY} and more`).toString("base64");
    expect(encodedForms(CORE).filter((form) => text.includes(form))).toHaveLength(1);
  }
});

describe.each(rows)("with $name", (row) => {
  test(`values are where they belong, in the Deployment of namespace ${row.namespace} and everywhere else`, async () => {
    const { namespace, reason, next } = row;
    await reached(namespace, reason);
    if (next !== undefined) {
      await next.act(namespace);
      await reached(namespace, next.reason);
    }
    await askWebhook(row);
    await runCommands(row);
    await (row.outage === true ? removeWithoutWebhook(namespace) : removeService(namespace));
    expect(await leaks(namespace)).toEqual([]);
  }, 60_000);
});
