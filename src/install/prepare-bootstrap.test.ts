import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { expectOk, ok, systemClock } from "#base";
import { loadBundle, localClusterBundle, makeBundle, providerInventory, reducedCapiCrds, type ClusterBundle } from "#bundle";
import { latticeClusterKind } from "#crds";
import { startEmbeddedCluster, type ClusterOptions, type EmbeddedCluster } from "#embedded-cluster";
import {
  capiClusters,
  configMaps,
  customResourceDefinitions,
  field,
  mutatingWebhookConfigurations,
  namespaces,
  secrets,
  type KubeObject,
} from "#kube";
import type { KubeClient } from "#kube-client";
import { clusterBundleFor } from "#operator";
import { bundleSources } from "../../test/builders/bundle-sources.ts";
import { presentProviders } from "./bootstrap-providers.ts";
import { BOOTSTRAP_RECORD, readBootstrapRecord, writeBootstrapRecord } from "./bootstrap-record.ts";
import { cleanBootstrap } from "./clean-bootstrap.ts";
import { planBootstrap, prepareBootstrap, recordNewObjects } from "./prepare-bootstrap.ts";

const { signal } = new AbortController();
const open: EmbeddedCluster[] = [];
afterEach(async () => {
  for (const cluster of open.splice(0)) await cluster.close();
});

const start = (...objects: readonly KubeObject[]) => startWith({ controllers: false }, objects);
/** With the controller that deletes the contents of namespaces. */
const startComplete = (...objects: readonly KubeObject[]) => startWith({ controllers: { simulation: false } }, objects);

async function startWith(settings: Pick<ClusterOptions, "controllers">, objects: readonly KubeObject[]): Promise<EmbeddedCluster> {
  const cluster = await startEmbeddedCluster({ logActions: false, ...settings });
  open.push(cluster);
  await cluster.add(...objects);
  return cluster;
}

const local = localClusterBundle({ crds: reducedCapiCrds("docker"), inventory: providerInventory("docker") });

/** Of the components in docs/guides/bundle, with webhooks. */
function documented(version = "v1.0.0"): ClusterBundle {
  const sources = bundleSources().map((source) => ({ ...source, version }));
  const made = expectOk(makeBundle(sources, { mirrors: [], variables: new Map() }));
  const folder = mkdtempSync(join(tmpdir(), "lattice-bundle-"));
  for (const [file, text] of made.files) writeFileSync(join(folder, file), text);
  const bundle = expectOk(loadBundle(folder));
  rmSync(folder, { recursive: true });
  return expectOk(clusterBundleFor("docker", bundle));
}

const options = (client: KubeClient, bundle: ClusterBundle = local) => ({
  client,
  cluster: "mgmt",
  bundle: () => Promise.resolve(ok(bundle)),
  clock: systemClock,
  signal,
});
const home: KubeObject = { apiVersion: "v1", kind: "Namespace", metadata: { name: "lattice-system" } };
const withVersion = (version: string) =>
  providerInventory("docker").map((object) => (object.kind === "Provider" ? { ...object, version } : object)) as readonly KubeObject[];

describe("a cluster cannot become a bootstrap cluster", () => {
  const rows: readonly {
    readonly name: string;
    readonly given: readonly KubeObject[];
    readonly bundle?: ClusterBundle;
    readonly want: RegExp;
  }[] = [
    {
      name: "with Lattice and without Cluster API",
      given: [latticeClusterKind.crd()],
      want: /^the bootstrap cluster has Lattice's kinds and no clusters\.cluster\.x-k8s\.io; install Cluster API/,
    },
    {
      name: "with the namespace of Lattice",
      given: [home],
      want: /^the bootstrap cluster has Namespace lattice-system already, and would lose it at the end; delete/,
    },
    {
      name: "with the namespace of the management cluster's objects",
      given: [{ apiVersion: "v1", kind: "Namespace", metadata: { name: "capi-mgmt" } }],
      want: /^the bootstrap cluster has Namespace capi-mgmt already, and would lose it at the end; delete it, or choose another name/,
    },
    {
      name: "with Cluster API that has no inventory",
      given: reducedCapiCrds("docker"),
      want: /has clusters\.cluster\.x-k8s\.io and no inventory of clusterctl/,
    },
    {
      name: "with Cluster API that is older than the bundle",
      given: [...reducedCapiCrds("docker"), ...withVersion("v1.9.0")],
      bundle: documented("v1.14.2"),
      want: /^provider cluster-api of the bootstrap cluster is older \(v1\.9\.0\) than that of the bundle \(v1\.14\.2\); upgrade it/,
    },
    {
      name: "with Cluster API for machines of this laptop",
      given: [...reducedCapiCrds("docker"), ...providerInventory("docker")],
      want: /need the reduced kinds of a laptop fleet/,
    },
    {
      name: "while it is one of another management cluster",
      given: [recordOf("other", "prepared")],
      want: /^the bootstrap cluster is used for management cluster other; run that command again/,
    },
    {
      name: "with a ConfigMap of the record's name",
      given: [recordOf("mgmt", "unknown")],
      want: /ConfigMap kube-system\/lattice-install was not written by lattice install; delete it/,
    },
  ];
  test.each(rows)("$name", async ({ given, bundle = local, want }) => {
    const cluster = await start(...given);
    const before = await contents(cluster);
    const planned = await planBootstrap(options(cluster.client, bundle));
    expect(planned).toMatchObject({ ok: false, error: expect.stringMatching(want) as string });
    expect(await contents(cluster)).toEqual(before);
  });

  test("if the user has not all rights there", async () => {
    const cluster = await start();
    const read = { apiGroups: ["*"], resources: ["*"], verbs: ["get", "list", "patch", "create"] };
    const rbac = { apiVersion: "rbac.authorization.k8s.io/v1" };
    await cluster.add(
      {
        ...rbac,
        kind: "ClusterRole",
        metadata: { name: "reader" },
        rules: [read, { nonResourceURLs: ["*"], verbs: ["get"] }],
      },
      {
        ...rbac,
        kind: "ClusterRoleBinding",
        metadata: { name: "reader" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "reader" },
        subjects: [{ kind: "User", name: "weak", apiGroup: "rbac.authorization.k8s.io" }],
      },
    );
    const planned = await planBootstrap(options(cluster.clientFor({ name: "weak" })));
    expect(planned).toMatchObject({ ok: false, error: expect.stringContaining("needs ClusterRole cluster-admin") as string });
  });
});

function recordOf(cluster: string, state: string): KubeObject {
  return Object.assign(
    { apiVersion: "v1", kind: "ConfigMap", metadata: { ...BOOTSTRAP_RECORD } },
    { data: { cluster, state, objects: "[]" } },
  );
}

async function contents({ client }: EmbeddedCluster): Promise<readonly string[]> {
  const lists = [namespaces, customResourceDefinitions, mutatingWebhookConfigurations].map(async (resource) => {
    const { items } = expectOk(await client.list<KubeObject>(resource as never));
    return items.map(({ metadata }) => `${resource.kind} ${metadata.name}`);
  });
  return (await Promise.all(lists)).flat().toSorted();
}

describe("a bootstrap cluster", () => {
  test("with Lattice and Cluster API is used as it is", async () => {
    const cluster = await start(latticeClusterKind.crd(), ...reducedCapiCrds("docker"));
    expect(await planBootstrap(options(cluster.client))).toEqual(ok({ kind: "ready" }));
  });

  test("gets the components of a bundle with certificates of webhooks, and is afterwards as it was", { timeout: 60_000 }, async () => {
    const cluster = await startComplete();
    const before = await contents(cluster);
    const prepared = options(cluster.client, documented());
    const plan = expectOk(await planBootstrap(prepared));
    expectOk(await prepareBootstrap(prepared, plan.kind === "prepare" ? plan.objects : []));
    expect(expectOk(await readBootstrapRecord(cluster.client, {}))).toMatchObject({ cluster: "mgmt", state: "prepared" });
    const added = (await contents(cluster)).filter((name) => !before.includes(name));
    expect(added).toContain("Namespace capi-system");
    expect(added).toContain("CustomResourceDefinition latticeclusters.lattice.dev");
    const issued = expectOk(await cluster.client.list(secrets, {})).items.filter((secret) => field(secret, "type") === "kubernetes.io/tls");
    expect(issued.length).toBeGreaterThan(0);
    // prepared already: nothing is created again
    expect(await planBootstrap(prepared)).toEqual(ok({ kind: "prepare", objects: [] }));
    expectOk(await cleanBootstrap({ client: cluster.client, cell: "lattice-bootstrap", clock: systemClock, signal }));
    expect(await contents(cluster)).toEqual(before);
    expectOk(await cleanBootstrap({ client: cluster.client, cell: "lattice-bootstrap", clock: systemClock, signal }));
  });

  test("keeps a newer Cluster API that it had before", { timeout: 60_000 }, async () => {
    const cluster = await startComplete(...reducedCapiCrds("docker"), ...withVersion("v1.14.9"));
    const before = await contents(cluster);
    const prepared = options(cluster.client, documented("v1.14.2"));
    const plan = expectOk(await planBootstrap(prepared));
    const objects = plan.kind === "prepare" ? plan.objects : [];
    expect(objects.filter(({ kind }) => kind === "Provider" || kind === "Deployment")).toEqual([]);
    expectOk(await prepareBootstrap(prepared, objects));
    expectOk(await cleanBootstrap({ client: cluster.client, cell: "lattice-bootstrap", clock: systemClock, signal }));
    expect(await contents(cluster)).toEqual(before);
  });

  test("is not cleaned while another cluster needs what would go", { timeout: 60_000 }, async () => {
    const cluster = await start();
    const prepared = options(cluster.client);
    const plan = expectOk(await planBootstrap(prepared));
    expectOk(await prepareBootstrap(prepared, plan.kind === "prepare" ? plan.objects : []));
    const other = { apiVersion: "cluster.x-k8s.io/v1beta2", kind: "Cluster", metadata: { name: "east", namespace: "default" }, spec: {} };
    expectOk(await cluster.client.create<KubeObject>(capiClusters as never, { ...other, spec: { paused: true } } as KubeObject));
    const cleaned = await cleanBootstrap({ client: cluster.client, cell: "lattice-bootstrap", clock: systemClock, signal });
    expect(cleaned).toMatchObject({
      ok: false,
      error: expect.stringContaining("Cluster east, which needs what this installation would remove") as string,
    });
    expect(expectOk(await readBootstrapRecord(cluster.client, {}))?.state).toBe("prepared");
  });

  test("is not cleaned while it has a resource of Lattice that the installation has not made", { timeout: 60_000 }, async () => {
    const cluster = await start();
    const prepared = options(cluster.client);
    const plan = expectOk(await planBootstrap(prepared));
    expectOk(await prepareBootstrap(prepared, plan.kind === "prepare" ? plan.objects : []));
    await cluster.add({
      apiVersion: "lattice.dev/v1alpha1",
      kind: "LatticeEnvironment",
      metadata: { name: "prod" },
      spec: {},
    });
    const cleaned = await cleanBootstrap({ client: cluster.client, cell: "lattice-bootstrap", clock: systemClock, signal });
    expect(cleaned).toMatchObject({ ok: false, error: expect.stringContaining("LatticeEnvironment prod, which needs") as string });
  });

  test("loses objects of the file that it did not have before, and keeps the others", async () => {
    const cluster = await start({ apiVersion: "v1", kind: "Namespace", metadata: { name: "mine" } });
    expectOk(await writeBootstrapRecord(cluster.client, { cluster: "mgmt", state: "prepared", objects: [] }, {}));
    const place = (name: string) => ({
      resource: namespaces as never,
      object: { apiVersion: "v1", kind: "Namespace", metadata: { name } },
    });
    expectOk(await recordNewObjects(cluster.client, [place("mine"), place("new")], {}));
    expect(expectOk(await readBootstrapRecord(cluster.client, {}))?.objects).toEqual([
      { apiVersion: "v1", kind: "Namespace", name: "new" },
    ]);
    expect(cluster.peek(configMaps, BOOTSTRAP_RECORD)?.data?.["cluster"]).toBe("mgmt");
  });
});

test("a version that cannot be compared is an error", () => {
  const provider = (version: string) =>
    Object.assign(
      { apiVersion: "v1", kind: "Provider", metadata: { name: "cluster-api" } },
      { type: "CoreProvider", providerName: "cluster-api", version },
    );
  expect(presentProviders([provider("v1.14.2")], [provider("main")])).toMatchObject({
    ok: false,
    error: expect.stringContaining('"main"') as string,
  });
});
