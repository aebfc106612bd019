/**
 * What `kubectl apply` does with the manifests of a new cluster on a real API server that is empty: the first run is complete, under strict
 * validation, the operator adds the inventory of clusterctl with the permissions that the manifests give it, and a second run changes nothing.
 */
import { expect } from "vitest";
import { expectOk, MetricsRegistry, noTracing, seededRandom, silentLogger, systemClock } from "#base";
import { parseYaml } from "#kube";
import { startOperator } from "#operator";
import { clientOf } from "../../builders/kubeconfig-client.ts";
import { eventually, realPlane, type RealPlane } from "../harness/index.ts";
import { MANAGERS } from "./managers.ts";

const LIMIT_MS = 180_000;
const WITHIN = { withinMs: 90_000 };
const VERSIONS = 'jsonpath={range .items[*]}{.kind} {.metadata.namespace}/{.metadata.name} {.metadata.resourceVersion}{"\\n"}{end}';
const PROVIDERS = 'jsonpath={range .items[*]}{.metadata.namespace}/{.metadata.name} {.type} {.version} {.metadata.labels}{"\\n"}{end}';

/** The inventory of the published components. */
const PUBLISHED_INVENTORY: readonly string[] = MANAGERS.map(({ name, namespace, type, version }) =>
  inventoryLine(`${namespace}/${name}`, type, `v${version}`),
);

/** One Provider, as `clusterctl init` makes it. */
export function inventoryLine(path: string, type: string, version: string): string {
  const labels = {
    "cluster.x-k8s.io/provider": path.split("/")[1],
    "clusterctl.cluster.x-k8s.io": "",
    "clusterctl.cluster.x-k8s.io/core": "inventory",
  };
  return `${path} ${type} ${version} ${JSON.stringify(labels)}`;
}

/** `flags`: of `kubectl apply`. The same expectations for every form. */
export async function expectAppliedTwice(
  stream: string,
  flags: readonly string[],
  inventory: readonly string[] = PUBLISHED_INVENTORY,
): Promise<void> {
  // without a controller manager no object changes unless the story, or the operator, changes it
  await using plane = await realPlane({ controllerManager: "absent" });
  const apply = (text: string) => plane.kubectl(["apply", ...flags, "--validate=strict", "-f", "-"], { stdin: text, limitMs: LIMIT_MS });
  const wrong = await apply("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: wrong, namespace: default}\nunknown: 1\n");
  expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining("unknown")]);
  const first = await apply(stream);
  expect([first.code, first.stderr]).toEqual([0, ""]);
  await plane.kubectlOk(["wait", "--for=condition=Established", "--timeout=120s", "crds", "--all"]);
  await addInventory(plane, inventory);
  const before = await versionsOf(plane, stream);
  expect(before).toHaveLength(expectOk(parseYaml(stream)).length);
  const second = await apply(stream);
  expect([second.code, second.stderr]).toEqual([0, ""]);
  expect(await versionsOf(plane, stream)).toEqual(before);
}

async function versionsOf(plane: RealPlane, stream: string): Promise<readonly string[]> {
  return (await plane.kubectlOk(["get", "-f", "-", "-o", VERSIONS], { stdin: stream, limitMs: LIMIT_MS })).trimEnd().split("\n");
}

/** The operator of the new cluster runs until the inventory is there, as its ServiceAccount. */
async function addInventory(plane: RealPlane, wanted: readonly string[]): Promise<void> {
  const account = ["system:serviceaccount:lattice-system:lattice-operator", ["system:serviceaccounts", "system:authenticated"]] as const;
  const client = await clientOf(plane.kubeconfigFor(...account));
  const stop = new AbortController();
  const config = { namespace: "lattice-system", identity: "story", leaderElection: false, health: { host: "127.0.0.1", port: 0 } };
  const world = { client, clock: systemClock, random: seededRandom(1), logger: silentLogger };
  const operator = expectOk(await startOperator(config, { ...world, metrics: new MetricsRegistry(), tracer: noTracing }, stop.signal));
  const running = operator.run(stop.signal);
  const listed = async () => (await plane.kubectlOk(["get", "providers", "-A", "-o", PROVIDERS])).trimEnd().split("\n");
  await eventually("the inventory of clusterctl", async () => (await listed()).length === wanted.length || undefined, WITHIN);
  await eventually(
    "the operator has recorded it",
    async () => {
      const map = await plane.kubectlOk(["get", "configmap", "lattice-deferred-objects", "-n", "lattice-system", "-o", "yaml"]);
      return map.includes("lattice.dev/applied-objects") || undefined;
    },
    WITHIN,
  );
  expect((await listed()).toSorted()).toEqual(wanted.toSorted());
  stop.abort();
  await running;
  await client.close();
}
