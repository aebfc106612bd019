/** A LatticeService in patch mode, from the Deployment of another owner to its detachment, on an embedded cluster. */
import { describe, expect, test } from "vitest";
import { latticeServices } from "#crds";
import { fieldAt, type Deployment } from "#kube";
import { RECORD_ANNOTATION, REQUEST_ANNOTATION } from "#workload-patch";
import {
  container,
  deployment,
  account,
  workloadRef,
  declared,
  patching,
  startPatching,
  specOf,
  main,
  nginx,
  storedPatches,
  isPatched,
} from "../../../test/builders/patched-service.ts";

describe("a Deployment that exists", () => {
  test("gets the patch by one write, and the service is Ready when its pods are", async () => {
    await using started = await startPatching([account(), deployment(), patching({ service: { ports: { http: { port: 80 } } } })]);
    const { operated } = started;
    const patched = await operated.read<Deployment>("Deployment", "shop/nginx");
    expect(patched?.metadata.labels).toEqual({ "lattice.dev/patched": "true", "lattice.dev/service": "web" });
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
    await using started = await startPatching([account(), deployment()]);
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
    await using started = await startPatching([account(), patching()]);
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

describe("what is reported", () => {
  test("of a Deployment with 500 containers, five are named and the others are counted", async () => {
    const containers = Array.from({ length: 500 }, (_, at) => container(`${"c".repeat(50)}${at}`));
    const missing = Array.from({ length: 15 }, (_, at) => [`${"m".repeat(50)}${at}`, { image: "a" }] as const);
    await using started = await startPatching([
      account(),
      deployment({ containers }),
      patching({ containers: { ...Object.fromEntries(missing), [containers[0]?.name ?? ""]: { image: "nginx:2" } } }),
    ]);
    const { message = "" } = (await started.operated.condition("shop/web", "WorkloadPatched")) ?? {};
    expect(message).toMatch(
      /has no containers .* and 10 more, and containers are never added; it has .* and 495 more; correct spec\.containers$/,
    );
    expect(main(await nginx(started))?.image).toBe("nginx:2");
  });

  test("a container that the Deployment lacks is named with those that it has, and never created", async () => {
    const containers = { ...declared.containers, mian: { variables: { A: "b" } } };
    await using started = await startPatching([account(), deployment(), patching({ containers })]);
    expect(await started.operated.condition("shop/web", "WorkloadPatched")).toMatchObject({
      status: "False",
      reason: "ContainerMissing",
      message: "Deployment shop/nginx has no container mian, and containers are never added; it has main; correct spec.containers",
    });
    expect((await nginx(started))?.spec.template.spec.containers).toHaveLength(1);
  });

  test("a container that the Deployment has as an init container is patched there", async () => {
    const containers = { main: declared.containers.main, migrate: declared.containers.main };
    await using started = await startPatching([
      account(),
      deployment({ initContainers: [container("migrate")] }),
      patching({ containers }),
    ]);
    expect(await started.operated.condition("shop/web", "WorkloadPatched")).toMatchObject({ status: "True", reason: "Patched" });
    const { initContainers = [] } = (await nginx(started))?.spec.template.spec ?? {};
    expect(initContainers).toMatchObject([
      {
        name: "migrate",
        env: [{ name: "LATTICE_LEVEL" }, { name: "LEVEL", value: "$(LATTICE_LEVEL)" }],
        resources: { limits: { memory: "1Gi" } },
      },
    ]);
    await started.operated.remove(latticeServices, "shop/web");
    await started.operated.live(10_000, 500);
    expect((await nginx(started))?.spec.template.spec.initContainers?.[0]).toMatchObject(container("migrate"));
  });

  test("replicas and deploy have no effect, and a condition names them", async () => {
    await using started = await startPatching([
      account(),
      deployment(),
      patching({ replicas: { min: 3 }, deploy: { strategy: "rolling" } }),
    ]);
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
    await using started = await startPatching([account(), service, deployment(), patching({ service: { ports: { http: { port: 80 } } } })]);
    const { operated } = started;
    expect(fieldAt(await operated.read("Service", "shop/web"), "spec", "selector")).toEqual({ app: "nginx" });
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
  });
});

describe("permissions", () => {
  const rows = [
    { name: "an operator for the cluster", given: { rbac: true } },
    { name: "an operator for some namespaces", given: { rbac: true, namespaces: ["shop"] } },
  ];
  test.each(rows)("$name has those that patch mode needs", async ({ given }) => {
    await using started = await startPatching([account(), deployment(), patching()], given);
    const { operated } = started;
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
    await operated.remove(latticeServices, "shop/web");
    await operated.live(10_000, 500);
    expect(isPatched(await nginx(started))).toBe(false);
    expect(await storedPatches(operated)).toEqual([]);
  });
});

describe("a sensitive value", () => {
  // that it is nowhere else: src/cli/patch-mode-leaks.test.ts
  test("is in a Secret that the Deployment refers to", async () => {
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
    await using started = await startPatching([account(), source, bindings, deployment(), patching({ containers })]);
    const { operated } = started;
    expect(await operated.condition("shop/web", "Ready")).toMatchObject({ status: "True" });
    expect(main(await nginx(started))?.env).toEqual([
      { name: "LATTICE_LEVEL", valueFrom: { secretKeyRef: { name: "web-secrets", key: "LEVEL" } } },
      { name: "LEVEL", value: "$(LATTICE_LEVEL)" },
    ]);
  });
});
