/**
 * Runs docs/guides/clusters.md as written: `lattice up --cell`, a child of an example file until its agent is connected, and its deletion. The verbs of
 * kubectl that the guide uses are done with a client; test/kube runs kubectl itself.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { latticeClusters, type LatticeCluster } from "#crds";
import { configMaps, findCondition, nodes, parseYaml, type KubeObject } from "#kube";
import type { KubeClient } from "#kube-client";
import { clustersGuide, fleetCommands, GuideRun, type RunKubectl } from "../builders/clusters-guide.ts";
import { yamlBlocks } from "../builders/console-steps.ts";
import { clientOf } from "../builders/fleet/fleet-client.ts";

const root = join(import.meta.dirname, "../..");
const run = new GuideRun(kubectl);
afterAll(() => run.end(), 60_000);

async function untilFound(client: KubeClient, name: string, isMet: (found: LatticeCluster | undefined) => boolean): Promise<void> {
  for (;;) {
    const found = await client.get(latticeClusters, { name });
    if (isMet(found.ok ? found.value : undefined)) return;
    await wait(100);
  }
}

function kubectl(...[args, { kubeconfig, cwd }]: Parameters<RunKubectl>): Promise<string> {
  const verbs: Readonly<Record<string, (client: KubeClient) => Promise<string>>> = {
    "apply -f examples/clusters/local.yaml": async (client) => {
      const [object] = expectOk(parseYaml(readFileSync(join(cwd, args[2] ?? ""), "utf8")));
      return expectOk(await client.apply<KubeObject>(latticeClusters, object as unknown as KubeObject, { fieldManager: "kubectl" }))
        .metadata.name;
    },
    "wait --for=condition=Ready --timeout=5m lc/dev": async (client) => {
      await untilFound(client, "dev", (found) => findCondition(found?.status?.conditions, "Ready")?.status === "True");
      return "met";
    },
    "get lc": async (client) =>
      expectOk(await client.list(latticeClusters))
        .items.map(({ metadata }) => metadata.name)
        .join("\n"),
    "get nodes": async (client) =>
      expectOk(await client.list(nodes))
        .items.map(({ metadata }) => metadata.name)
        .join("\n"),
    "delete lc dev": async (client) => {
      expectOk(await client.delete(latticeClusters, { name: "dev" }));
      await untilFound(client, "dev", (found) => found === undefined);
      return "deleted";
    },
  };
  const verb = verbs[args.join(" ")];
  if (verb === undefined) throw new Error(`this test cannot do: kubectl ${args.join(" ")}`);
  return withClient(kubeconfig, verb);
}

async function withClient<T>(kubeconfig: string, use: (client: KubeClient) => Promise<T>): Promise<T> {
  const client = await clientOf(kubeconfig);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

/** What the output of a command must contain. */
const SHOWN: Readonly<Record<string, RegExp>> = {
  "./lattice up --empty --cell": /^mgmt is a cell: /m,
  "kubectl get lc": /^dev\nmgmt$/,
  "./lattice certs": /\bdev\b/,
  "KUBECONFIG=.lattice/clusters/dev/kubeconfig kubectl get nodes": /^dev-control-plane-\S+$/m,
};

describe("docs/guides/clusters.md", () => {
  test.for(fleetCommands())("%s", { timeout: 300_000 }, async (command) => {
    expect(await run.run(command)).toMatch(SHOWN[command] ?? /^/);
  });

  test("has all commands whose output is checked", () => {
    expect(fleetCommands()).toEqual(expect.arrayContaining(Object.keys(SHOWN)));
  });

  test("shows the child of the example file, and the objects that --cell creates", async () => {
    const [child, identity, own] = yamlBlocks(clustersGuide).flatMap((block) => expectOk(parseYaml(block)));
    expect(child).toEqual(expectOk(parseYaml(readFileSync(join(root, "examples/clusters/local.yaml"), "utf8")))[0]);
    await withClient(run.kubeconfig, async (client) => {
      const named = expectOk(await client.get(configMaps, { namespace: "lattice-system", name: "lattice-identity" }));
      const created = expectOk(await client.get(latticeClusters, { name: "mgmt" }));
      expect(named).toMatchObject(identity as object);
      expect(created).toMatchObject(own as object);
      const { grpcPort, bootstrapPort, proxyPort } = created.spec.endpoints ?? {};
      expect(new Set([grpcPort, bootstrapPort, proxyPort, 50051, 8443, 8444]).size).toBe(6);
    });
  });
});
