/**
 * Plans the writes from the current to the desired slices of a Service, as few as possible. Pure.
 *
 * Endpoints stay in their slice. New ones are added first to slices that must be written anyway, then together to one that has
 * room, and only then to new slices: every write is sent to every node of the cluster.
 */
import { jsonEqual, type AddressType, type EndpointPort, type EndpointSlice, type Service, type SliceEndpoint } from "#kube";
import { addressTypesOf, desiredEndpoints, endpointKey, portsKey, type PortGroup, type ServiceWorld } from "./desired-endpoints.ts";
import { hasAddress, HEADLESS_LABEL } from "./services.ts";

export const SERVICE_NAME_LABEL = "kubernetes.io/service-name";
export const MANAGED_BY_LABEL = "endpointslice.kubernetes.io/managed-by";
export const MANAGED_BY = "endpointslice-controller.k8s.io";
export const MAX_ENDPOINTS = 100;
const RESERVED = new Set([HEADLESS_LABEL, SERVICE_NAME_LABEL, MANAGED_BY_LABEL]);

export type SlicePlan = {
  readonly create: readonly EndpointSlice[];
  readonly update: readonly EndpointSlice[];
  readonly remove: readonly EndpointSlice[];
  readonly skipped: readonly string[];
};

type Draft = { readonly slice: EndpointSlice; readonly endpoints: SliceEndpoint[]; changed: boolean };

export function planSlices(world: ServiceWorld, existing: readonly EndpointSlice[]): SlicePlan {
  const types = addressTypesOf(world.service);
  const plans = types.map((type) =>
    planType(
      world,
      existing.filter(({ addressType }) => addressType === type),
      type,
    ),
  );
  const unsupported = existing.filter(({ addressType }) => !types.some((type) => type === addressType));
  return {
    create: plans.flatMap(({ create }) => create),
    update: plans.flatMap(({ update }) => update),
    remove: [...plans.flatMap(({ remove }) => remove), ...unsupported],
    skipped: [...new Set(plans.flatMap(({ skipped }) => skipped))],
  };
}

function planType(world: ServiceWorld, existing: readonly EndpointSlice[], addressType: AddressType): SlicePlan {
  const { service } = world;
  const { groups, skipped } = desiredEndpoints(world, addressType);
  const owned = existing.filter((slice) => isOwnedBy(slice, service));
  const create: EndpointSlice[] = [];
  const update: EndpointSlice[] = [];
  const remove = existing.filter((slice) => !owned.includes(slice) || !groups.has(portsKey(slice.ports ?? [])));
  for (const [key, group] of groups) {
    const plan = planGroup(
      service,
      { group, addressType },
      owned.filter((slice) => portsKey(slice.ports ?? []) === key),
    );
    create.push(...plan.create);
    update.push(...plan.update);
    remove.push(...plan.remove);
  }
  if (create.length === 0 && remove.length === existing.length) {
    const placeholder = newSlice(service, addressType, []);
    if (existing.length === 1 && isPlaceholder(existing[0], placeholder, service)) return { create, update, remove: [], skipped };
    create.push(placeholder);
  }
  return { ...reuse(service, { create, update, remove }), skipped };
}

function planGroup(
  service: Service,
  { group, addressType }: { group: PortGroup; addressType: AddressType },
  existing: readonly EndpointSlice[],
) {
  const left = new Map(group.endpoints);
  const drafts = existing.map((slice) => keepWanted(slice, left, service));
  const emptied = drafts.filter(({ slice, endpoints }) => endpoints.length === 0 && (slice.endpoints ?? []).length > 0);
  const kept = drafts.filter((draft) => !emptied.includes(draft));
  for (const draft of kept.filter(({ changed }) => changed).toSorted((a, b) => b.endpoints.length - a.endpoints.length)) fill(draft, left);
  const create: Draft[] = [];
  while (left.size > 0) {
    const room =
      left.size < MAX_ENDPOINTS
        ? fullestWithRoom(
            kept.filter(({ changed }) => !changed),
            left.size,
          )
        : undefined;
    const draft = room ?? { slice: newSlice(service, addressType, group.ports), endpoints: [], changed: true };
    fill(draft, left);
    draft.changed = true;
    if (room === undefined) create.push(draft);
  }
  const labels = labelsOf(service);
  return {
    create: create.map(({ slice, endpoints }) => ({ ...slice, endpoints })),
    update: kept.filter(({ changed }) => changed).map(({ slice, endpoints }) => ({ ...withLabels(slice, labels), endpoints })),
    remove: emptied.map(({ slice }) => slice),
  };
}

/** Removes from `left` the endpoints that the slice already has. */
function keepWanted(slice: EndpointSlice, left: Map<string, SliceEndpoint>, service: Service): Draft {
  const before = slice.endpoints ?? [];
  const endpoints: SliceEndpoint[] = [];
  let changed = !sameLabels(slice, service);
  for (const known of before) {
    const key = endpointKey(known);
    const wanted = left.get(key);
    if (wanted === undefined) continue;
    endpoints.push(wanted);
    changed ||= !jsonEqual(wanted, known);
    left.delete(key);
  }
  return { slice, endpoints, changed: changed || endpoints.length !== before.length };
}

function fill({ endpoints }: Draft, left: Map<string, SliceEndpoint>): void {
  for (const [key, endpoint] of left) {
    if (endpoints.length >= MAX_ENDPOINTS) return;
    endpoints.push(endpoint);
    left.delete(key);
  }
}

function fullestWithRoom(drafts: readonly Draft[], count: number): Draft | undefined {
  return drafts
    .filter(({ endpoints }) => endpoints.length + count <= MAX_ENDPOINTS)
    .toSorted((a, b) => b.endpoints.length - a.endpoints.length)[0];
}

/** A slice to delete is reused for one to create: one event instead of two. */
function reuse(service: Service, { create, update, remove }: Omit<SlicePlan, "skipped">): Omit<SlicePlan, "skipped"> {
  const made = [...create];
  const written = [...update];
  const gone: EndpointSlice[] = [];
  for (const slice of remove) {
    const next = isOwnedBy(slice, service) ? made.pop() : undefined;
    if (next === undefined) gone.push(slice);
    else written.push({ ...withLabels(slice, next.metadata.labels ?? {}), endpoints: next.endpoints ?? [], ports: next.ports ?? [] });
  }
  return { create: made, update: written, remove: gone };
}

function newSlice(service: Service, addressType: AddressType, ports: readonly EndpointPort[]): EndpointSlice {
  const { name, namespace = "", uid = "" } = service.metadata;
  const owner = { apiVersion: "v1", kind: "Service", name, uid, controller: true, blockOwnerDeletion: true };
  // a prefix that would be too long with its dash has none
  const generateName = name.length < 253 ? `${name}-` : name;
  return {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    // the server generates the name: the type requires one, the request does not
    metadata: { name: "", generateName, namespace, labels: labelsOf(service), ownerReferences: [owner] },
    addressType,
    endpoints: [],
    ports,
  };
}

/** The Service's own labels, and three that the controller sets. */
function labelsOf(service: Service): Readonly<Record<string, string>> {
  return {
    ...Object.fromEntries(Object.entries(service.metadata.labels ?? {}).filter(([name]) => !RESERVED.has(name))),
    ...(hasAddress(service) ? {} : { [HEADLESS_LABEL]: "" }),
    [SERVICE_NAME_LABEL]: service.metadata.name,
    [MANAGED_BY_LABEL]: MANAGED_BY,
  };
}

function sameLabels({ metadata }: EndpointSlice, service: Service): boolean {
  const own = (labels: Readonly<Record<string, string>> = {}) =>
    Object.fromEntries(Object.entries(labels).filter(([name]) => !RESERVED.has(name)));
  return jsonEqual(own(metadata.labels), own(service.metadata.labels));
}

function withLabels(slice: EndpointSlice, labels: Readonly<Record<string, string>>): EndpointSlice {
  return { ...slice, metadata: { ...slice.metadata, labels } };
}

function isOwnedBy({ metadata }: EndpointSlice, service: Service): boolean {
  const owners = metadata.ownerReferences ?? [];
  return owners.some(({ uid, kind, apiVersion }) => uid === service.metadata.uid && kind === "Service" && apiVersion === "v1");
}

function isPlaceholder(slice: EndpointSlice | undefined, placeholder: EndpointSlice, service: Service): boolean {
  if (slice === undefined || !isOwnedBy(slice, service)) return false;
  const empty = (slice.endpoints ?? []).length === 0 && (slice.ports ?? []).length === 0;
  return empty && jsonEqual(slice.metadata.labels, placeholder.metadata.labels);
}
