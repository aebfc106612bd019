/** What a child makes when its parent announces a pivot. */
import { describe, expect, onTestFinished, test } from "vitest";
import { err, expectOk, ok } from "#base";
import type { CacheReader } from "#controller-runtime";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import {
  capiClusters,
  configMaps,
  fieldAt,
  kubeadmConfigs,
  kubeadmControlPlanes,
  namespaces,
  secrets,
  type KubeObject,
  type Resource,
} from "#kube";
import { openCrd } from "../../../test/builders/open-crd.ts";
import { SettlingClock } from "../../../test/builders/settling-clock.ts";
import { decoded } from "../../../test/builders/two-clusters.ts";
import { preparePivot, type PreparePivotOptions } from "./prepare-pivot.ts";

const HOME = "lattice-system";
const ORDER = { cluster: "prod", namespace: "capi-prod" };
const KINDS = [capiClusters, kubeadmConfigs, kubeadmControlPlanes];
const KEY = { namespace: "capi-prod", name: "prod-kubeconfig" };
const cache = {
  get: (resource: Resource) => (resource === configMaps ? { data: { cluster: "prod" } } : undefined),
} as unknown as CacheReader;

async function open(kinds: readonly Resource[] = KINDS): Promise<EmbeddedCluster> {
  const objects = [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: HOME } },
    { apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "lattice-cluster-api", namespace: HOME } },
    ...kinds.map(openCrd),
  ];
  const cluster = await startEmbeddedCluster({ clock: new SettlingClock(), objects });
  onTestFinished(() => cluster[Symbol.asyncDispose]());
  return cluster;
}

function prepare({ client, clock }: EmbeddedCluster, change: Partial<PreparePivotOptions> = {}, order = ORDER) {
  const signal = new AbortController().signal;
  const apiServer = ok({ url: "https://10.96.0.1:443", ca: "CA" });
  return preparePivot(order, { client, clock, signal, cache, home: HOME, apiServer, ...change });
}

describe("a pivot that is announced", () => {
  test("makes the namespace and the kubeconfig, and a repeated one changes nothing", async () => {
    const cluster = await open();
    const { client } = cluster;
    expect(await prepare(cluster)).toEqual(ok(["namespace capi-prod exists", "Secret capi-prod/prod-kubeconfig leads to this cluster"]));
    expect(expectOk(await client.get(namespaces, { name: "capi-prod" })).metadata.annotations).toEqual({ "lattice.dev/cluster": "prod" });
    const secret = expectOk(await client.get<KubeObject>(secrets, KEY));
    expect(decoded(fieldAt(secret, "data", "value"))).toContain("server: https://10.96.0.1:443");
    expect(await prepare(cluster)).toEqual(ok(["namespace capi-prod exists", "Secret capi-prod/prod-kubeconfig is current"]));
    expect(expectOk(await client.get(secrets, KEY)).metadata.resourceVersion).toBe(secret.metadata.resourceVersion);
  });

  test("replaces a kubeconfig of another address", async () => {
    const cluster = await open();
    expectOk(await prepare(cluster));
    expectOk(await prepare(cluster, { apiServer: ok({ url: "https://10.96.0.9:443", ca: "CA" }) }));
    const secret = expectOk(await cluster.client.get<KubeObject>(secrets, KEY));
    expect(decoded(fieldAt(secret, "data", "value"))).toContain("server: https://10.96.0.9:443");
  });

  test.each([
    { name: "another cluster", order: { ...ORDER, cluster: "other" }, want: "this cluster is prod, and the pivot is that of other" },
    {
      name: "another namespace",
      order: { ...ORDER, namespace: "kube-system" },
      want: "are in namespace capi-prod, and the pivot names kube-system",
    },
    {
      name: "a cluster without a name",
      change: { cache: { get: () => undefined } as unknown as CacheReader },
      want: "this cluster is without a name, and the pivot is that of prod",
    },
    {
      name: "an operator that does not know its API server",
      change: { apiServer: err("tls-server-name is not supported") },
      want: "Cluster API could not reach this cluster from within: tls-server-name is not supported",
    },
  ])("is refused for $name, and nothing is made", async ({ order, change, want }) => {
    const cluster = await open();
    expect(await prepare(cluster, change, order)).toMatchObject({ ok: false, error: expect.stringContaining(want) as string });
    expect((await cluster.client.get(namespaces, { name: "capi-prod" })).ok).toBe(false);
  });

  test("is refused without Cluster API, with the kinds that are missing", async () => {
    const cluster = await open([capiClusters]);
    expect(await prepare(cluster)).toEqual(
      err(
        "this cluster does not serve kubeadmconfigs.bootstrap.cluster.x-k8s.io, kubeadmcontrolplanes.controlplane.cluster.x-k8s.io; install Cluster API of the bundle there",
      ),
    );
  });

  test("is refused with the reason when the API server refuses a write", async () => {
    const cluster = await open();
    expectOk(await cluster.client.delete(cluster.resource("ServiceAccount"), { namespace: HOME, name: "lattice-cluster-api" }));
    expect(await prepare(cluster)).toMatchObject({
      error: expect.stringContaining("Secret capi-prod/prod-kubeconfig cannot be written: ") as string,
    });
    const down = { kind: "network", message: "connection refused" } as const;
    const failing = (method: "raw" | "create" | "get") =>
      ({ ...boundClient(cluster), [method]: () => Promise.resolve(err(down)) }) as unknown as PreparePivotOptions["client"];
    expect(await prepare(cluster, { client: failing("raw") })).toMatchObject({
      error: expect.stringContaining("cannot be asked: connection refused") as string,
    });
    expect(await prepare(cluster, { client: failing("create") })).toMatchObject({
      error: "namespace capi-prod cannot be created: connection refused",
    });
    expect(await prepare(cluster, { client: failing("get") })).toMatchObject({
      error: "Secret capi-prod/prod-kubeconfig cannot be read: connection refused",
    });
  });
});

function boundClient({ client }: EmbeddedCluster): Partial<EmbeddedCluster["client"]> {
  const raw: EmbeddedCluster["client"]["raw"] = (path, options) => client.raw(path, options);
  const create: EmbeddedCluster["client"]["create"] = (resource, object, options) => client.create(resource, object, options);
  const get: EmbeddedCluster["client"]["get"] = (resource, key, options) => client.get(resource, key, options);
  return { raw, create, get };
}
