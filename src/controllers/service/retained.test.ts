/** Secrets and ConfigMaps stay as long as a pod may still be started with them. */
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import type { Deployment, KubeObject } from "#kube";
import type { CacheReader } from "#controller-runtime";
import type { LatticeService } from "#crds";
import { latticeService, secret } from "../../../test/builders/lattice-objects.ts";
import { OperatedCluster } from "../../../test/builders/operated-cluster.ts";
import { podSourcesOf, retainedBy, staleConfig } from "./retained.ts";

const resources = { db: { type: "postgres" } };
const variables = { PASSWORD: "${resources.db.password}", LEVEL: "info" };
const withSecret = (more: object = {}) =>
  latticeService("shop/api", { ...more, resources, replicas: { min: 2 }, containers: { main: { image: "app:1", variables } } });
const without = (image: string, more: object = {}) =>
  latticeService("shop/api", { ...more, replicas: { min: 2 }, containers: { main: { image } } });
const database = secret("shop/postgres-db", { password: "p" });

async function configOf(operated: OperatedCluster): Promise<readonly string[]> {
  const found = await Promise.all(["Secret", "ConfigMap"].map((kind) => operated.names(kind, "shop")));
  return found.flat().filter((name) => name.startsWith("api-"));
}

test("a stuck rollout keeps the Secret of the old pods, and a completed rollout removes it", async () => {
  await using operated = await OperatedCluster.start({ objects: [database, withSecret()] });
  expect(await configOf(operated)).toEqual(["api-secrets", "api-env"]);
  operated.cluster.simulation.faults.add({ kind: "image-pull", on: { image: "*:broken" } });
  await operated.apply(without("app:broken"));
  await operated.live(5_000, 500);
  expect(await configOf(operated)).toEqual(["api-secrets", "api-env"]);
  const compiled = await operated.condition("shop/api", "ConfigCompiled");
  expect(compiled?.message).toMatch(
    /^Generated 0 ConfigMaps, 0 Secrets; kept while ReplicaSet api-[a-z0-9]+ may start pods with them: ConfigMap shop\/api-env, Secret shop\/api-secrets$/,
  );

  // the node of an old pod is removed: its replacement is of the old version too
  const pods = (await operated.list("Pod")).filter((pod) => JSON.stringify(pod).includes('"image":"app:1"'));
  for (const { metadata } of pods) await operated.remove(operated.cluster.resource("Pod"), `shop/${metadata.name}`);
  await operated.live(200_000, 10_000);
  expect(await configOf(operated)).toEqual(["api-secrets", "api-env"]);
  expect(await operated.condition("shop/api", "Ready")).toMatchObject({ status: "True" });

  await operated.apply(without("app:2"));
  // less than the resync interval
  await operated.live(10_000, 500);
  expect(await operated.condition("shop/api", "WorkloadsReady")).toMatchObject({ status: "True" });
  expect(await configOf(operated)).toEqual([]);
  expect((await operated.condition("shop/api", "ConfigCompiled"))?.message).toBe("Generated 0 ConfigMaps, 0 Secrets");
});

test("a Deployment that is scaled to zero keeps nothing", async () => {
  await using operated = await OperatedCluster.start({ objects: [database, withSecret({ replicas: { min: 2, max: 3 } })] });
  const key = { namespace: "shop", name: "api" };
  const paused = { spec: { replicas: 0 } };
  expectOk(await operated.client.patch(operated.cluster.resource("Deployment"), key, { type: "merge", patch: paused }));
  await operated.live(3_000, 500);
  await operated.apply(without("app:2", { replicas: { min: 2, max: 3 } }));
  await operated.live(5_000, 500);
  expect(await configOf(operated)).toEqual([]);
});

test("Flagger's primary keeps the objects that it references until it is promoted", async () => {
  const canary = { deploy: { strategy: "canary" } };
  await using operated = await OperatedCluster.start({ objects: [database, withSecret(canary)] });
  const target = await operated.read<KubeObject & { spec: { template: { metadata: { labels: object }; spec: object } } }>(
    "Deployment",
    "shop/api",
  );
  const owner = {
    apiVersion: "flagger.app/v1beta1",
    kind: "Canary",
    name: "api",
    uid: (await operated.read("Canary", "shop/api"))?.metadata.uid,
  };
  const primary = (pod: object | undefined) => {
    const labels = { ...target?.spec.template.metadata.labels, "app.kubernetes.io/name": "api-primary" };
    const selector = { matchLabels: { "app.kubernetes.io/name": "api-primary" } };
    const metadata = { name: "api-primary", namespace: "shop", labels, ownerReferences: [owner] };
    return {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata,
      spec: { replicas: 2, selector, template: { metadata: { labels }, spec: pod } },
    } as never;
  };
  await operated.apply(primary(target?.spec.template.spec));
  await operated.live(3_000, 500);
  await operated.apply(without("app:2", canary));
  await operated.live(10_000, 500);
  expect(await configOf(operated)).toEqual(["api-secrets", "api-env"]);
  await operated.apply(primary({ containers: [{ name: "main", image: "app:2" }] }));
  await operated.live(10_000, 500);
  expect(await configOf(operated)).toEqual([]);
});

describe("references to a config object", () => {
  const service = {
    apiVersion: "lattice.dev/v1alpha1",
    kind: "LatticeService",
    metadata: { name: "api", namespace: "shop" },
    spec: {},
  } as LatticeService;
  const owned = (kind: string, name: string, more: object = {}): KubeObject => ({
    apiVersion: "v1",
    kind,
    metadata: { name, namespace: "shop" },
    ...more,
  });
  const stale = [
    owned("Secret", "api-secrets"),
    owned("ConfigMap", "api-files"),
    owned("ExternalSecret", "api-outside", { spec: { target: { name: "api-made" } } }),
  ];
  const cache = {
    isServed: () => true,
    byIndex: ({ kind }: { readonly kind: string }) => stale.filter((object) => object.kind === kind),
  } as unknown as CacheReader;
  const deployment = { ...owned("Deployment", "api"), spec: { selector: { matchLabels: { app: "api" } } } } as KubeObject as Deployment;
  const own = { ...deployment, metadata: { ...deployment.metadata, uid: "u1" } };
  const replicaSet = (replicas: number, pod: object, uid = "u1") => {
    const metadata = {
      name: `api-${replicas}`,
      namespace: "shop",
      ownerReferences: [{ apiVersion: "apps/v1", kind: "Deployment", name: "api", uid }],
    };
    return { apiVersion: "apps/v1", kind: "ReplicaSet", metadata, spec: { replicas, template: { spec: pod } } };
  };
  const everything = {
    containers: [
      { envFrom: [{ secretRef: { name: "api-secrets" } }], env: [{ valueFrom: { secretKeyRef: { name: "api-made", key: "k" } } }] },
    ],
    volumes: [{ projected: { sources: [{ configMap: { name: "api-files" } }] } }],
  };
  const mounted = { volumes: [{ secret: { secretName: "api-secrets" } }] };
  const all = ["ConfigMap shop/api-files", "Secret shop/api-secrets", "ExternalSecret shop/api-outside"];

  const rows = [
    { name: "variables, projected volumes, and the Secret of an ExternalSecret", answer: [replicaSet(2, everything)], want: all },
    { name: "a mounted Secret", answer: [replicaSet(1, mounted)], want: ["Secret shop/api-secrets"] },
    { name: "a ReplicaSet without pods does not count", answer: [replicaSet(0, everything)], want: [] },
    { name: "a ReplicaSet of another Deployment does not count", answer: [replicaSet(2, everything, "u2")], want: [] },
    { name: "ReplicaSets that cannot be read may refer to all objects", answer: undefined, want: all },
    { name: "ReplicaSets beyond the first page may refer to all objects", answer: [replicaSet(0, mounted)], more: "next", want: all },
  ];
  test.each(rows)("$name", async ({ answer, more = "", want }) => {
    const list = () =>
      Promise.resolve(
        answer === undefined ? { ok: false, error: {} } : { ok: true, value: { metadata: { continue: more }, items: answer } },
      );
    const runtime = { client: { list }, signal: new AbortController().signal } as unknown as Parameters<typeof podSourcesOf>[1];
    const workload = { deployment: own, available: true };
    const found = retainedBy(staleConfig(service, { wanted: [], workload }, cache), await podSourcesOf(workload, runtime));
    expect(found.map(({ object }) => object)).toEqual(want);
  });
});
