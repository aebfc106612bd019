/**
 * A patched Deployment in the mesh of a live cluster: calls are open exactly where both sides declare them, whichever of both is patched, and
 * `lattice why` names both.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "#base";
import type { FixtureObject } from "#embedded-cluster";
import { meshKinds } from "#kube";
import { DataPlane } from "#mesh-compiler";
import { runCli, type CliRun } from "../../test/builders/cli-io.ts";
import { latticeService } from "../../test/builders/lattice-objects.ts";
import { account, deployment, startPatching, type Started } from "../../test/builders/patched-service.ts";

type Declared = { readonly patches?: string; readonly calls: readonly string[]; readonly calledBy: readonly string[] };

/** `web` and `old` are patched. `front` calls `old`, which does not declare it; `db` lets `front` in, which does not call it. */
const MESH: Readonly<Record<string, Declared>> = {
  front: { calls: ["web", "old"], calledBy: [] },
  web: { patches: "nginx", calls: ["db", "old"], calledBy: ["front", "old"] },
  db: { calls: [], calledBy: ["web", "front"] },
  old: { patches: "legacy", calls: ["web"], calledBy: ["web"] },
};
const NAMES = Object.keys(MESH);
const PAIRS = NAMES.flatMap((from) => NAMES.filter((to) => to !== from).map((to) => ({ from, to })));

function serviceOf(name: string, { patches, calls, calledBy }: Declared): FixtureObject {
  const peers = [...new Set([...calls, ...calledBy])].map((peer) => {
    const direction = calls.includes(peer) ? (calledBy.includes(peer) ? "both" : "outbound") : "inbound";
    return [peer, { direction }] as const;
  });
  const workload = patches === undefined ? {} : { workloadRef: { name: patches, namespace: "shop" }, containers: { main: {} } };
  return latticeService(`shop/${name}`, { ...workload, resources: Object.fromEntries(peers) });
}

const isOpen = (mesh: typeof MESH, { from, to }: (typeof PAIRS)[number]) =>
  mesh[from]?.calls.includes(to) === true && mesh[to]?.calledBy.includes(from) === true;

/** The pairs that the objects in the cluster let through. */
async function openPairs({ operated }: Started): Promise<readonly string[]> {
  const kinds = [...meshKinds.map(({ kind }) => kind), "Namespace", "Deployment", "Service"];
  const lists = await Promise.all(kinds.map(async (kind) => (await operated.list(kind)).map((object) => ({ ...object, kind }))));
  const plane = new DataPlane(lists.flat());
  return PAIRS.filter(({ from, to }) => plane.ask({ from: `shop/${from}`, to: `shop/${to}`, port: 8080 })?.open === true).map(
    ({ from, to }) => `${from} ${to}`,
  );
}

const declaredPairs = (mesh: typeof MESH) => PAIRS.filter((pair) => isOpen(mesh, pair)).map(({ from, to }) => `${from} ${to}`);

async function startMesh() {
  const workloads = [account("nginx"), account("legacy-account"), deployment(), deployment({ name: "legacy", account: "legacy-account" })];
  const started = await startPatching([...workloads, ...Object.entries(MESH).map(([name, declared]) => serviceOf(name, declared))]);
  const cwd = mkdtempSync(join(tmpdir(), "lattice-patched-mesh-"));
  onTestFinished(async () => {
    await started[Symbol.asyncDispose]();
    rmSync(cwd, { recursive: true });
  });
  writeFileSync(join(cwd, "kubeconfig"), await started.operated.cluster.kubeconfig({ http: true }));
  const env = { KUBECONFIG: join(cwd, "kubeconfig") };
  const why = (from: string, to: string): Promise<CliRun> =>
    runCli(["why", `shop/${from}`, `shop/${to}`], { cwd, clock: systemClock, env });
  return { started, operated: started.operated, why };
}

test("every pair of owned and patched services is open exactly as both declare it, and follows their declarations", async () => {
  const { started, operated } = await startMesh();
  expect(declaredPairs(MESH)).toEqual(["front web", "web db", "web old", "old web"]);
  expect(await openPairs(started)).toEqual(declaredPairs(MESH));
  const changes: readonly Partial<typeof MESH>[] = [
    { old: { patches: "legacy", calls: ["web"], calledBy: ["web", "front"] } },
    { web: { patches: "nginx", calls: ["db"], calledBy: ["old"] } },
    { db: { calls: [], calledBy: ["front"] } },
  ];
  let mesh = MESH;
  for (const change of changes) {
    mesh = { ...mesh, ...(change as typeof MESH) };
    await operated.apply(...Object.entries(change).map(([name, declared]) => serviceOf(name, declared as Declared)));
    await operated.live(6_000, 500);
    expect(await openPairs(started)).toEqual(declaredPairs(mesh));
  }
  expect(declaredPairs(mesh)).toEqual(["front old", "old web"]);
});

test("the principal of a patched service is the ServiceAccount of its Deployment, also after a change", async () => {
  const { operated, started } = await startMesh();
  const policy = async (name: string) => JSON.stringify(await operated.read("AuthorizationPolicy", `shop/${name}`));
  expect(await policy("db")).toContain("/ns/shop/sa/nginx");
  expect(await policy("db")).not.toContain("/ns/shop/sa/web");
  expect(await policy("web")).toContain("/ns/shop/sa/front");
  expect(await policy("web")).toContain("/ns/shop/sa/legacy-account");
  await operated.apply(account("changed"), deployment({ account: "changed" }));
  await operated.live(6_000, 500);
  for (const name of ["db", "old"]) {
    expect(await policy(name)).toContain("/ns/shop/sa/changed");
    expect(await policy(name)).not.toContain("/ns/shop/sa/nginx");
  }
  expect(await openPairs(started)).toEqual(declaredPairs(MESH));
});

test("lattice why answers for both directions, and names the side that does not declare the call", async () => {
  const { why, operated } = await startMesh();
  for (const pair of PAIRS) {
    const { stdout, code } = await why(pair.from, pair.to);
    const open = isOpen(MESH, pair);
    expect(stdout).toContain(`shop/${pair.from} -> shop/${pair.to}:8080 is ${open ? "open" : "closed"}`);
    expect(code).toBe(open ? 0 : 1);
    const sides = [MESH[pair.from]?.calls.includes(pair.to), MESH[pair.to]?.calledBy.includes(pair.from)];
    expect([stdout.includes(`Add to LatticeService shop/${pair.from}`), stdout.includes(`Add to LatticeService shop/${pair.to}`)]).toEqual(
      sides.map((declares) => declares !== true),
    );
  }
  expect(await operated.condition("shop/front", "DependenciesOpen")).toMatchObject({
    status: "False",
    message: expect.stringContaining("old") as string,
  });
  expect(await operated.condition("shop/web", "DependenciesOpen")).toMatchObject({ status: "True" });
});
