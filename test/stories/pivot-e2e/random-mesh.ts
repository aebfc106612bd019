/** The services of the story: the shop, and a random mesh as a user applies it with the calls that its declarations allow. */
import { expectOk, seededRandom } from "#base";
import { latticeKinds, latticeServices, type LatticeService } from "#crds";
import { apiVersionOf, isConditionTrue, namespaces, secrets, type KubeObject, type Resource } from "#kube";
import type { KubeClient } from "#kube-client";
import { SHAREABLE_LABEL } from "#service-compiler";

export type MeshAssertion = { readonly from: string; readonly to: string; readonly expect: "open" | "closed" };

export const MESH_NAMESPACE = "mesh";
const SHOP = "shop";
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
        return { from: `${MESH_NAMESPACE}/${from}`, to: `${MESH_NAMESPACE}/${to}`, expect: open ? "open" : "closed" };
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
  const metadata = { name, namespace: MESH_NAMESPACE };
  return { apiVersion: "lattice.dev/v1alpha1", kind: "LatticeService", metadata, spec } as unknown as LatticeService;
}

export async function applyMesh(client: KubeClient, { services }: RandomMesh): Promise<void> {
  expectOk(await client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: MESH_NAMESPACE } }));
  for (const service of services) expectOk(await client.create(latticeServices, service));
}

/** `count`: of services; absent: there is at least one. */
export async function areServicesReady(client: KubeClient, namespace: string, count?: number): Promise<boolean> {
  const listed = await client.list(latticeServices, { namespace });
  if (!listed.ok || listed.value.items.length === 0 || (count !== undefined && listed.value.items.length !== count)) return false;
  return listed.value.items.every(({ status }) => isConditionTrue(status?.conditions, "Ready"));
}

/** The shop as another cluster has it: all that a user applied, and the values of its secrets. */
export async function copyShop(from: KubeClient, to: KubeClient): Promise<void> {
  expectOk(await to.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: SHOP } }));
  const values = await copiesOf(from, secrets, SHOP);
  for (const copy of values.filter(({ metadata }) => isShareable(metadata.labels))) expectOk(await to.create(secrets, copy));
  for (const { resource, namespaced } of latticeKinds.filter(({ kind }) => kind !== "LatticeCluster")) {
    const copies = await copiesOf(from, resource, namespaced ? "default" : undefined);
    for (const copy of copies) expectOk(await to.create<KubeObject>(resource, copy));
  }
}

const isShareable = (labels: Readonly<Record<string, string>> = {}) => Object.hasOwn(labels, SHAREABLE_LABEL);

async function copiesOf(from: KubeClient, resource: Resource, namespace?: string): Promise<readonly KubeObject[]> {
  const listed = expectOk(await from.list<KubeObject>(resource, namespace === undefined ? {} : { namespace }));
  return listed.items.map(({ metadata: { name, namespace: place, labels }, ...rest }) => {
    const { status: _, ...object } = rest as typeof rest & { readonly status?: unknown };
    const kind = { apiVersion: apiVersionOf(resource), kind: resource.kind };
    const metadata = { name, ...(place === undefined ? {} : { namespace: place }), ...(labels === undefined ? {} : { labels }) };
    return { ...object, ...kind, metadata };
  });
}
