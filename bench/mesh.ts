/**
 * The mesh by size: building it, changing one service and recompiling its neighbours compared with recompiling everything, and memory.
 * Ratios to Lattice in Rust use figures that were measured on such a machine.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { World, worldSettings } from "#compile";
import { Mesh, type MeshNode } from "#mesh-compiler";
import type { BenchResult } from "../scripts/bench/bench.ts";
import { bestMs, timed } from "./support/best-time.ts";
import type { MeshMemory } from "./support/mesh-memory-child.ts";
import { ringServices } from "./support/ring-services.ts";

const [FEW, MANY] = [1_000, 10_000];
const ROUNDS = 7;
const UPDATES = 500;
const PUT_AGAIN = 200;
/** Ten out and ten in: 100,000 agreed edges among 10,000 services. */
const WIDE = 10;
const CHILD = join(import.meta.dirname, "support/mesh-memory-child.ts");

const RUST = { buildMs: 39.6, putUs: 3, allPoliciesMs: 100 };

export async function run(): Promise<readonly BenchResult[]> {
  const narrow = nodesOf(MANY, 3);
  return [...asRust(narrow), flat(narrow), ...incremental(), ...(await memory())];
}

/** The mesh nodes of services, from a loaded world: parsing is not measured here. */
function nodesOf(count: number, degree: number): readonly MeshNode[] {
  const world = new World(worldSettings());
  for (const service of ringServices({ count, degree, full: false })) world.put(service);
  return [...world.mesh.graph.nodes()];
}

function meshOf(nodes: readonly MeshNode[]): Mesh {
  const gateway = { namespace: "istio-ingress", name: "gateway", serviceAccount: "gateway-istio" };
  const mesh = new Mesh({ trustDomain: () => "cluster.local", gateway: () => gateway, waypointWanted: () => false });
  for (const node of nodes) mesh.put(node);
  return mesh;
}

function policiesOfAll(mesh: Mesh, nodes: readonly MeshNode[]): void {
  for (const { id } of nodes) if (mesh.policiesOf(id).length === 0) throw new Error(`${id} has no policies`);
}

function asRust(nodes: readonly MeshNode[]): readonly BenchResult[] {
  const buildMs = bestMs(ROUNDS, () => timed(() => void meshOf(nodes)));
  const policiesMs = bestMs(ROUNDS, () => {
    const mesh = meshOf(nodes);
    return timed(() => policiesOfAll(mesh, nodes));
  });
  const note = `speed, more is better; ${MANY.toLocaleString("en-GB")} services, 3 agreed edges each`;
  return [
    {
      name: "build",
      value: buildMs,
      unit: "ms",
      ratio: RUST.buildMs / buildMs,
      against: `Lattice in Rust, as measured (${RUST.buildMs} ms)`,
      note,
    },
    {
      name: "policies of all",
      value: policiesMs,
      unit: "ms",
      ratio: RUST.allPoliciesMs / policiesMs,
      against: `Lattice in Rust, as measured (${RUST.allPoliciesMs} ms)`,
      note,
    },
  ];
}

/** The cost of one put does not depend on the number of services. */
function flat(many: readonly MeshNode[]): BenchResult {
  const putUs = (nodes: readonly MeshNode[]) => {
    const mesh = meshOf(nodes);
    const some = nodes.slice(0, UPDATES);
    const often = () => {
      for (let again = 0; again < PUT_AGAIN; again += 1) for (const node of some) mesh.put(node);
    };
    return (bestMs(ROUNDS, () => timed(often)) / (UPDATES * PUT_AGAIN)) * 1_000;
  };
  const [few, value] = [putUs(nodesOf(FEW, 3)), putUs(many)];
  const note = `time, less is better and 1 is flat; Lattice in Rust: ${RUST.putUs} µs, as measured`;
  return {
    name: `put among ${MANY.toLocaleString("en-GB")}`,
    value,
    unit: "µs",
    ratio: value / few,
    against: `among ${FEW.toLocaleString("en-GB")}`,
    note,
  };
}

function incremental(): readonly BenchResult[] {
  const nodes = nodesOf(MANY, WIDE);
  const mesh = meshOf(nodes);
  const allMs = timed(() => policiesOfAll(mesh, nodes));
  const fullMs = bestMs(ROUNDS, () => timed(() => policiesOfAll(meshOf(nodes), nodes)));
  let touched = 0;
  const updates = nodes.slice(0, UPDATES);
  const oneMs =
    bestMs(ROUNDS, () =>
      timed(() => {
        for (const node of updates) for (const id of mesh.put(node).services) touched += mesh.policiesOf(id).length > 0 ? 1 : 0;
      }),
    ) / UPDATES;
  if (allMs <= 0 || touched === 0) throw new Error("nothing was compiled");
  const edges = (MANY * WIDE).toLocaleString("en-GB");
  const note = `speed, more is better; ${MANY.toLocaleString("en-GB")} services, ${edges} agreed edges; ${1 + 2 * WIDE} services are touched`;
  return [
    {
      name: "change one, and recompile its neighbours",
      value: oneMs * 1_000,
      unit: "µs",
      ratio: fullMs / oneMs,
      against: "recompiling everything",
      note,
    },
    {
      name: "build and policies of all",
      value: fullMs,
      unit: "ms",
      ratio: (fullMs / MANY) * 1_000,
      against: "1 µs a service",
      note: `time, less is better; ${edges} edges`,
    },
  ];
}

async function memory(): Promise<readonly BenchResult[]> {
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=source", "--expose-gc", CHILD, String(MANY), String(WIDE)]);
  const { graphBytes, allBytes, jsonBytes } = JSON.parse(stdout) as MeshMemory;
  const edges = (MANY * WIDE).toLocaleString("en-GB");
  const note = `less is better; ${MANY.toLocaleString("en-GB")} services, ${edges} edges: ${Math.round(graphBytes / 2 ** 20)} MiB of graph, ${Math.round(allBytes / 2 ** 20)} MiB with all policies`;
  return [
    {
      name: "memory per service, policies kept",
      value: allBytes / MANY,
      unit: "bytes",
      ratio: allBytes / jsonBytes,
      against: "its policies as JSON",
      note,
    },
  ];
}
