/** A random mesh of services as a user applies it, and which calls its declarations allow. */
import { expectOk, seededRandom } from "#base";
import { latticeServices, type LatticeService } from "#crds";
import { isConditionTrue } from "#kube";
import { namespaces } from "#kube";
import type { KubeClient } from "#kube-client";

export type MeshAssertion = { readonly from: string; readonly to: string; readonly expect: "open" | "closed" };

const NAMESPACE = "mesh";
const SERVICES = 25;
/** So that about one pair in twelve is open. */
const DECLARED = 0.3;

export type RandomMesh = { readonly services: readonly LatticeService[]; readonly assertions: readonly MeshAssertion[] };

/** A call is open when the caller declares it and the callee does. */
export function randomMesh(seed: number): RandomMesh {
  const random = seededRandom(seed);
  const names = Array.from({ length: SERVICES }, (_, at) => `s${at}`);
  const declares = () => random() < DECLARED;
  const calls = new Map(names.map((from) => [from, new Set(names.filter((to) => to !== from && declares()))]));
  const admits = new Map(names.map((to) => [to, new Set(names.filter((from) => from !== to && declares()))]));
  const assertions = names.flatMap((from) =>
    names
      .filter((to) => to !== from)
      .map((to): MeshAssertion => {
        const open = calls.get(from)?.has(to) === true && admits.get(to)?.has(from) === true;
        return { from: `${NAMESPACE}/${from}`, to: `${NAMESPACE}/${to}`, expect: open ? "open" : "closed" };
      }),
  );
  return { services: names.map((name) => serviceOf(name, calls.get(name) ?? new Set(), admits.get(name) ?? new Set())), assertions };
}

function serviceOf(name: string, calls: ReadonlySet<string>, admits: ReadonlySet<string>): LatticeService {
  const peers = new Set([...calls, ...admits]);
  const direction = (peer: string) => (!admits.has(peer) ? "outbound" : calls.has(peer) ? "both" : "inbound");
  const spec = {
    containers: { main: { image: "registry.example.com/mesh/echo:1" } },
    resources: Object.fromEntries([...peers].map((peer) => [peer, { direction: direction(peer) }])),
    service: { ports: { http: { port: 8080 } } },
  };
  const metadata = { name, namespace: NAMESPACE };
  return { apiVersion: "lattice.dev/v1alpha1", kind: "LatticeService", metadata, spec } as unknown as LatticeService;
}

export async function applyMesh(client: KubeClient, { services }: RandomMesh): Promise<void> {
  expectOk(await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: NAMESPACE } }));
  for (const service of services) expectOk(await client.create(latticeServices, service));
}

export async function isMeshReady(client: KubeClient): Promise<boolean> {
  const listed = await client.list(latticeServices, { namespace: NAMESPACE });
  return (
    listed.ok &&
    listed.value.items.length === SERVICES &&
    listed.value.items.every(({ status }) => isConditionTrue(status?.conditions, "Ready"))
  );
}
