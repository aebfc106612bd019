/** Run by bench/mesh.ts in its own process: fills a mesh and prints its memory, without and with its policies. */
import { World, worldSettings } from "#compile";
import { Mesh } from "#mesh-compiler";
import { ringServices } from "./ring-services.ts";

export type MeshMemory = { readonly graphBytes: number; readonly allBytes: number; readonly jsonBytes: number };

const [count = 0, degree = 0] = process.argv.slice(2).map(Number);
const gateway = { namespace: "istio-ingress", name: "gateway", serviceAccount: "gateway-istio" };

/** Services are created a few at a time and released: only the data of the mesh remains. */
function fill(size: number): Mesh {
  const mesh = new Mesh({ trustDomain: () => "cluster.local", gateway: () => gateway, waypointWanted: () => false });
  const world = new World(worldSettings());
  for (const service of ringServices({ count: size, degree, full: false })) world.put(service);
  for (const node of world.mesh.graph.nodes()) mesh.put(node);
  return mesh;
}

const warm = fill(50); // code that is loaded on first use is not counted
const before = await heapUsed();
const mesh = fill(count);
const graph = await heapUsed();
let jsonBytes = 0;
for (const { id } of mesh.graph.nodes()) jsonBytes += Buffer.byteLength(JSON.stringify(mesh.policiesOf(id)));
const all = await heapUsed();
if (mesh.graph.size !== count || warm.graph.size !== 50) throw new Error("the mesh does not have the expected services");
console.log(JSON.stringify({ graphBytes: graph - before, allBytes: all - before, jsonBytes } satisfies MeshMemory));

async function heapUsed(): Promise<number> {
  for (let round = 0; round < 4; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    globalThis.gc?.();
  }
  return process.memoryUsage().heapUsed;
}
