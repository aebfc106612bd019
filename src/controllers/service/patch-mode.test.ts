/** A LatticeService in patch mode, from the Deployment of another owner to its detachment, on an embedded cluster. */
import { describe, expect, test } from "vitest";
import { latticeServices } from "#crds";
import type { FixtureObject } from "#embedded-cluster";
import { canonicalJson, deployments, fieldAt, type Deployment, type KubeObject } from "#kube";
import { RECORD_ANNOTATION, revertWorkloadPatch, REQUEST_ANNOTATION } from "#workload-patch";
import { calls, isCalledBy, latticeService } from "../../../test/builders/lattice-objects.ts";
import { OperatedCluster, type OperatedOptions } from "../../../test/builders/operated-cluster.ts";
import { patchWebhook } from "../../../test/builders/patch-webhook.ts";

const container = (name = "main") => ({
  name,
  image: "nginx:1",
  env: [{ name: "LEVEL", value: "info" }],
  envFrom: [{ configMapRef: { name: "owners", optional: true } }],
  securityContext: {
    allowPrivilegeEscalation: false,
    runAsNonRoot: true,
    capabilities: { drop: ["ALL"] },
    seccompProfile: { type: "RuntimeDefault" },
  },
});

function deployment(more: { name?: string; account?: string; containers?: readonly object[]; metadata?: object } = {}): FixtureObject {
  const { name = "nginx", account = "nginx", containers = [container()], metadata = {} } = more;
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name, namespace: "shop", ...metadata },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: { metadata: { labels: { app: name } }, spec: { serviceAccountName: account, containers } },
    },
  };
}

const account = (name = "nginx"): FixtureObject => ({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name, namespace: "shop" } });

const workloadRef = { name: "nginx", namespace: "shop" };
const declared = { containers: { main: { variables: { LEVEL: "debug", REGION: "eu" }, resources: { limits: { memory: "1Gi" } } } } };
const patching = (spec: object = {}, key = "shop/web") => latticeService(key, { workloadRef, ...declared, ...spec });

type Started = { readonly operated: OperatedCluster; readonly webhook: { isUp: boolean } } & AsyncDisposable;

async function start(objects: readonly FixtureObject[], options: OperatedOptions = {}): Promise<Started> {
  const webhook = { isUp: true };
  const operated = await OperatedCluster.start(options);
  patchWebhook(operated.cluster, () => webhook.isUp);
  await operated.apply(...objects);
  await operated.live(6_000, 500);
  return { operated, webhook, [Symbol.asyncDispose]: () => operated[Symbol.asyncDispose]() };
}

const specOf = (object: KubeObject | undefined) => canonicalJson(fieldAt(object, "spec") ?? null);
const main = (object: Deployment | undefined) => object?.spec.template.spec.containers[0];
const nginx = ({ operated }: Started) => operated.read<Deployment>("Deployment", "shop/nginx");
const storedPatches = async (operated: OperatedCluster) =>
  (await operated.names("ConfigMap", "lattice-system")).filter((name) => name.startsWith("workload-patch-"));
const isPatched = (object: KubeObject | undefined) => object?.metadata.annotations?.[RECORD_ANNOTATION] !== undefined;

describe("a Deployment that exists", () => {
  test("gets the patch by one write, and the service is Ready when its pods are", async () => {
    await using started = await start([account(), deployment(), patching({ service: { ports: { http: { port: 80 } } } })]);
    const { operated } = started;
    const patched = await operated.read<Deployment>("Deployment", "shop/nginx");
    expect(patched?.metadata.labels).toEqual({ "lattice.dev/service": "web" });
    expect(patched?.spec?.template.metadata?.labels).toEqual({ app: "nginx", "lattice.dev/service": "web" });
    expect(main(patched)).toMatchObject({
      env: [
        { name: "LATTICE_LEVEL", valueFrom: { configMapKeyRef: { name: "web-env", key: "LEVEL" } } },
        { name: "LEVEL", value: "$(LATTICE_LEVEL)" },
      ],
      envFrom: [{ configMapRef: { name: "owners" } }, { configMapRef: { name: "web-env" } }],
      resources: { limits: { memory: "1Gi" } },
    });
    expect(fieldAt(await operated.read("ConfigMap", "shop/web-env"), "data")).toEqual({ LEVEL: "debug", REGION: "eu" });
    expect(fieldAt(await operated.read("Service", "shop/web"), "spec", "selector")).toEqual({ "lattice.dev/service": "web" });
    expect((await operated.service("shop/web")).status).toMatchObject({
      phase: "Ready",
      mode: "Patch",
      workloadRef: { resolved: true, ...workloadRef },
    });
    expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({
      status: "True",
      reason: "Patched",
      message: "Deployment shop/nginx has the patch",
    });
    expect(operated.writes().filter((write) => write.includes("deployments.apps shop/nginx"))).toEqual([
      "patch deployments.apps shop/nginx",
    ]);
    for (const kind of ["Deployment", "HorizontalPodAutoscaler", "PodDisruptionBudget", "ServiceAccount"])
      expect(await operated.names(kind, "shop")).not.toContain("web");
  });

  test("is restored exactly when the service is deleted, and an event says so", async () => {
    await using started = await start([account(), deployment()]);
    const { operated } = started;
    const before = await operated.read("Deployment", "shop/nginx");
    await operated.apply(patching());
    await operated.live(6_000, 500);
    expect(specOf(await operated.read("Deployment", "shop/nginx"))).not.toBe(specOf(before));
    await operated.remove(latticeServices, "shop/web");
    await operated.live(10_000, 500);
    const after = await operated.read("Deployment", "shop/nginx");
    expect(specOf(after)).toBe(specOf(before));
    expect([
      after?.metadata.labels,
      after?.metadata.annotations?.[RECORD_ANNOTATION],
      after?.metadata.annotations?.[REQUEST_ANNOTATION],
    ]).toEqual([undefined, undefined, undefined]);
    expect(await operated.read("LatticeService", "shop/web")).toBeUndefined();
    expect(await storedPatches(operated)).toEqual([]);
    expect((await operated.events()).map(({ reason }) => reason)).toContain("PatchReverted");
  });
});

describe("a Deployment that does not exist", () => {
  test("is waited for, and is patched when it is created", async () => {
    await using started = await start([account(), patching()]);
    const { operated } = started;
    expect((await operated.service("shop/web")).status).toMatchObject({
      phase: "Pending",
      workloadRef: { resolved: false, ...workloadRef },
      message: "Deployment shop/nginx does not exist; it is patched when it is created",
    });
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "False", reason: "WorkloadNotFound" });
    await operated.apply(deployment());
    expect(isPatched(await nginx(started))).toBe(true);
    await operated.live(6_000, 500);
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
  });
});

describe("a Deployment that may not be patched", () => {
  test("uses the ServiceAccount default: nothing is open, and the reason is in the conditions", async () => {
    const caller = latticeService("shop/front", { resources: calls("web") });
    const callee = patching({ resources: isCalledBy("front"), service: { ports: { http: { port: 80 } } } });
    await using started = await start([account(), caller, callee, deployment({ account: "default" })]);
    const { operated } = started;
    for (const type of ["Ready", "PoliciesApplied"])
      expect(await operated.condition("shop/web", type)).toMatchObject({
        status: "False",
        reason: "SharedServiceAccount",
        message: expect.stringContaining("set serviceAccountName of its pods to an account of its own") as string,
      });
    expect(isPatched(await nginx(started))).toBe(false);
    expect(await operated.read("AuthorizationPolicy", "shop/web")).toBeUndefined();
    await operated.apply(deployment());
    await operated.live(6_000, 500);
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
    expect(JSON.stringify(await operated.read("AuthorizationPolicy", "shop/web"))).toContain("/ns/shop/sa/front");
  });

  test("is patched by an older service: the error of the second names the first, and the second gets it afterwards", async () => {
    await using started = await start([account(), deployment(), patching()]);
    const { operated } = started;
    await operated.apply(patching({}, "shop/second"));
    await operated.live(6_000, 500);
    expect(await operated.condition("shop/second", "Ready")).toMatchObject({
      reason: "WorkloadClaimed",
      message: expect.stringContaining("Deployment shop/nginx is patched by LatticeService shop/web, which takes precedence") as string,
    });
    await operated.remove(latticeServices, "shop/web");
    await operated.live(20_000, 500);
    expect(await operated.condition("shop/second", "Ready")).toMatchObject({ status: "True" });
    expect((await nginx(started))?.metadata.labels).toEqual({ "lattice.dev/service": "second" });
  });

  const rows = [
    {
      name: "made for another service",
      ref: { name: "own", namespace: "shop" },
      reason: "WorkloadClaimed",
      want: "made for LatticeService shop/own",
    },
    {
      name: "in another namespace",
      ref: { name: "nginx", namespace: "other" },
      reason: "WorkloadNotAllowed",
      want: "not the namespace in which the service runs, shop",
    },
  ];
  test.each(rows)("is $name", async ({ ref, reason, want }) => {
    await using started = await start([account(), deployment(), latticeService("shop/own"), patching({ workloadRef: ref })]);
    const ready = await started.operated.condition("shop/web", "Ready");
    expect(ready).toMatchObject({ status: "False", reason, message: expect.stringContaining(want) as string });
  });

  test("would be refused by the API server with the patch: the patch is not stored, and the owner can write", async () => {
    const limited = { ...container(), resources: { requests: { memory: "2Gi" } } };
    await using started = await start([account(), deployment({ containers: [limited] }), patching()]);
    const { operated } = started;
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({
      reason: "PatchRejected",
      message: expect.stringContaining("the API server refuses Deployment shop/nginx with this patch") as string,
    });
    expect(await storedPatches(operated)).toEqual([]);
    await operated.apply(deployment());
    await operated.live(6_000, 500);
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
  });
});

describe("what is reported", () => {
  test("a container that the Deployment lacks is named with those that it has, and never created", async () => {
    const containers = { ...declared.containers, mian: { variables: { A: "b" } } };
    await using started = await start([account(), deployment(), patching({ containers })]);
    expect(await started.operated.condition("shop/web", "WorkloadPatched")).toMatchObject({
      status: "False",
      reason: "ContainerMissing",
      message: "Deployment shop/nginx has no container mian, and containers are never added; it has main; correct spec.containers",
    });
    expect((await nginx(started))?.spec.template.spec.containers).toHaveLength(1);
  });

  test("replicas and deploy have no effect, and a condition names them", async () => {
    await using started = await start([account(), deployment(), patching({ replicas: { min: 3 }, deploy: { strategy: "rolling" } })]);
    const { operated } = started;
    expect(await operated.condition("shop/web", "FieldsUsed")).toMatchObject({
      status: "False",
      reason: "FieldsIgnored",
      message: "in patch mode spec.replicas, spec.deploy has no effect: the owner of the Deployment decides it; remove it here",
    });
    expect((await nginx(started))?.spec.replicas).toBe(1);
    await operated.apply(patching());
    await operated.live(3_000, 500);
    expect(await operated.condition("shop/web", "FieldsUsed")).toMatchObject({ status: "True", reason: "AllFieldsUsed" });
  });

  test("a Service of the same name that has another owner is used and left alone", async () => {
    const spec = { selector: { app: "nginx" }, ports: [{ port: 80 }] };
    const service = { apiVersion: "v1", kind: "Service", metadata: { name: "web", namespace: "shop" }, spec };
    await using started = await start([account(), service, deployment(), patching({ service: { ports: { http: { port: 80 } } } })]);
    const { operated } = started;
    expect(fieldAt(await operated.read("Service", "shop/web"), "spec", "selector")).toEqual({ app: "nginx" });
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
  });
});

describe("a webhook that does not act", () => {
  test("is reported, the Deployment is written again with growing waits, and it converges when the webhook is back", async () => {
    await using started = await start([account()]);
    const { operated, webhook } = started;
    webhook.isUp = false;
    await operated.apply(deployment(), patching());
    await operated.live(20_000, 1_000);
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({
      status: "False",
      reason: "WebhookDidNotAct",
      message: expect.stringContaining("MutatingWebhookConfiguration lattice-workload-patches") as string,
    });
    webhook.isUp = true;
    await operated.live(40_000, 1_000);
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
  });

  test("misses an upgrade: the Deployment is patched again, and the upgrade stays", async () => {
    const containers = { main: { variables: { LEVEL: "debug", REGION: "eu" }, image: "nginx:debug" } };
    await using started = await start([account(), deployment(), patching({ containers })]);
    const { operated, webhook } = started;
    webhook.isUp = false;
    await operated.apply(deployment({ containers: [{ ...container(), env: [{ name: "LEVEL", value: "warn" }] }] }));
    expect(main(await nginx(started))?.env).toContainEqual({ name: "LEVEL", value: "warn" });
    webhook.isUp = true;
    await operated.live(6_000, 500);
    const patched = await nginx(started);
    expect(main(patched)).toMatchObject({ image: "nginx:debug" });
    expect(main(patched)?.env).toContainEqual({ name: "LEVEL", value: "$(LATTICE_LEVEL)" });
    expect(patched === undefined ? undefined : main(revertWorkloadPatch(patched).deployment as Deployment)?.env).toEqual([
      { name: "LEVEL", value: "warn" },
    ]);
    expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({ status: "True" });
  });

  test("while a service is deleted: after a minute the operator restores the Deployment itself, and owns none of its fields", async () => {
    await using started = await start([account(), deployment()]);
    const { operated, webhook } = started;
    const before = await nginx(started);
    await operated.apply(patching());
    await operated.live(6_000, 500);
    webhook.isUp = false;
    await operated.remove(latticeServices, "shop/web");
    await operated.live(30_000, 1_000);
    expect(isPatched(await nginx(started))).toBe(true);
    await operated.live(60_000, 1_000);
    const after = await nginx(started);
    expect(specOf(after)).toBe(specOf(before));
    expect(after?.metadata.managedFields?.map((entry) => fieldAt(entry, "manager"))).not.toContain("lattice");
    expect(await operated.read("LatticeService", "shop/web")).toBeUndefined();
    const note = (await operated.events()).find(({ reason }) => reason === "PatchReverted")?.note;
    expect(note).toContain("the admission webhook did not act, so the operator wrote the Deployment itself");
  });
});

describe("a change of the mode", () => {
  const owning = () => latticeService("shop/web", { containers: { main: { image: "web:1", variables: { LEVEL: "debug" } } } });

  test("from ownership to patch keeps the own Deployment until the other is patched and available, and deletes it then", async () => {
    await using started = await start([account(), owning()]);
    const { operated } = started;
    await operated.apply(patching());
    await operated.live(6_000, 500);
    expect(await operated.read("Deployment", "shop/web")).toBeDefined();
    expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({
      reason: "WorkloadNotFound",
      message: expect.stringMatching(
        /made for this service in ownership mode, kept until Deployment shop\/nginx is patched and available, and deleted then: Deployment shop\/web, ServiceAccount shop\/web/,
      ) as string,
    });
    await operated.apply(deployment());
    await operated.live(10_000, 500);
    expect(await operated.names("Deployment", "shop")).toEqual(["nginx"]);
    expect(await operated.names("ServiceAccount", "shop")).not.toContain("web");
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
  });

  test("from patch to ownership restores the Deployment first, and makes an own one then", async () => {
    await using started = await start([account(), deployment()]);
    const { operated } = started;
    const before = await nginx(started);
    await operated.apply(patching());
    await operated.live(6_000, 500);
    await operated.apply(owning());
    await operated.live(12_000, 500);
    expect(specOf(await nginx(started))).toBe(specOf(before));
    expect((await operated.service("shop/web")).status).toMatchObject({ phase: "Ready", mode: "Ownership" });
    expect((await operated.service("shop/web")).status?.workloadRef).toBeUndefined();
    expect(await operated.condition("shop/web", "WorkloadPatched")).toMatchObject({ status: "False", reason: "Detaching" });
  });

  test("to another Deployment restores the first, except what its owner changed since, which an event names", async () => {
    await using started = await start([account(), deployment(), deployment({ name: "other" }), patching()]);
    const { operated } = started;
    const memory = { path: "/spec/template/spec/containers/0/resources/limits/memory", value: "3Gi" };
    started.webhook.isUp = false;
    await operated.client.patch(deployments, workloadRef, { type: "json", operations: [{ op: "replace", ...memory }] });
    await operated.apply(patching({ workloadRef: { ...workloadRef, name: "other" } }));
    started.webhook.isUp = true;
    await operated.live(12_000, 500);
    const first = await nginx(started);
    expect([isPatched(first), main(first)?.env, fieldAt(main(first), "resources", "limits")]).toEqual([
      false,
      [{ name: "LEVEL", value: "info" }],
      { memory: "3Gi" },
    ]);
    expect(isPatched(await operated.read("Deployment", "shop/other"))).toBe(true);
    const note = (await operated.events()).find(({ reason }) => reason === "PatchPartlyReverted")?.note;
    expect(note).toContain("not restored, because they were changed since: spec.template.spec.containers[main].resources.limits.memory");
  });
});

describe("an operator that was removed", () => {
  test("finds the Deployment of a service that was deleted meanwhile, and restores it", async () => {
    await using started = await start([account(), deployment()]);
    const { operated } = started;
    const before = await nginx(started);
    await operated.apply(patching());
    await operated.live(6_000, 500);
    await operated.stopOperator();
    await operated.client.patch(
      latticeServices,
      { namespace: "shop", name: "web" },
      { type: "merge", patch: { metadata: { finalizers: null } } },
    );
    await operated.remove(latticeServices, "shop/web");
    await operated.client.deleteCollection(operated.cluster.resource("ConfigMap"), { namespace: "lattice-system" });
    operated.startOperator();
    await operated.live(10_000, 500);
    expect(specOf(await nginx(started))).toBe(specOf(before));
    expect(await storedPatches(operated)).toEqual([]);
  });

  test("leaves Flagger's copy of a patched Deployment alone", async () => {
    await using started = await start([account(), deployment(), patching()]);
    const { operated } = started;
    const { annotations } = (await nginx(started))?.metadata ?? {};
    const canary = { apiVersion: "flagger.app/v1beta1", kind: "Canary" };
    await operated.apply({ ...canary, metadata: { name: "nginx", namespace: "shop" }, spec: {} });
    const owner = { ...canary, name: "nginx", uid: (await operated.read("Canary", "shop/nginx"))?.metadata.uid };
    await operated.apply(deployment({ name: "nginx-primary", metadata: { annotations, ownerReferences: [owner] } }));
    await operated.live(6_000, 500);
    expect(isPatched(await operated.read("Deployment", "shop/nginx-primary"))).toBe(true);
  });
});

describe("permissions", () => {
  const rows = [
    { name: "an operator for the cluster", given: { rbac: true } },
    { name: "an operator for some namespaces", given: { rbac: true, namespaces: ["shop"] } },
  ];
  test.each(rows)("$name has those that patch mode needs", async ({ given }) => {
    await using started = await start([account(), deployment(), patching()], given);
    const { operated } = started;
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
    await operated.remove(latticeServices, "shop/web");
    await operated.live(10_000, 500);
    expect(isPatched(await nginx(started))).toBe(false);
    expect(await storedPatches(operated)).toEqual([]);
  });
});

describe("a sensitive value", () => {
  test("is in a Secret and nowhere else", async () => {
    const value = "hunter2-never-shown";
    const source = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "stripe", namespace: "shop" },
      data: { key: Buffer.from(value).toString("base64") },
    };
    const bindings = {
      apiVersion: "lattice.dev/v1alpha1",
      kind: "LatticeSecretBindings",
      metadata: { name: "all", namespace: "shop" },
      spec: { bindings: { stripe: { secretRef: { name: "stripe" } } } },
    };
    const variables = { LEVEL: "${secrets.stripe.key}", URL: "https://x:${secrets.stripe.key}@y" };
    const files = { "/etc/key": { content: "${secrets.stripe.key}" } };
    const containers = { main: { variables, files } };
    await using started = await start([account(), source, bindings, deployment(), patching({ containers })]);
    const { operated } = started;
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
    expect(main(await nginx(started))?.env).toEqual([
      { name: "LATTICE_LEVEL", valueFrom: { secretKeyRef: { name: "web-secrets", key: "LEVEL" } } },
      { name: "LEVEL", value: "$(LATTICE_LEVEL)" },
    ]);
    const encoded = Buffer.from(value).toString("base64");
    const holders: string[] = [];
    for (const kind of [
      "Deployment",
      "ReplicaSet",
      "Pod",
      "ConfigMap",
      "Secret",
      "Service",
      "Event",
      "LatticeService",
      "AuthorizationPolicy",
    ])
      for (const object of await operated.list(kind)) {
        const text = JSON.stringify(object);
        if (text.includes(value) || text.includes(encoded)) holders.push(`${kind} ${object.metadata.namespace}/${object.metadata.name}`);
      }
    expect(holders).toEqual(["Secret shop/stripe", "Secret shop/web-files-secret", "Secret shop/web-secrets"]);
    expect(JSON.stringify(operated.lines)).not.toContain(value);
  });
});
