/**
 * Requests and limits that the API server accepts only together: a request beyond its limit, resources that cannot be overcommitted, and amounts
 * beyond those of the pod. An owner may change its own at any time, and its write must not be refused because of those of the patch.
 */
import { addQuantities, compareQuantities, field, isJsonObject, parseQuantity, type Json, type JsonObject, type Quantity } from "#kube";
import type { Misfit } from "./fitting.ts";
import { listIn } from "./merge.ts";
import { CONTAINER_LISTS } from "./shapes.ts";

const KINDS = ["limits", "requests"] as const;
type Kind = (typeof KINDS)[number];

/** Of one container with the patch. `wanted`: of the patch. */
export function resourceMisfits(container: JsonObject, wanted: JsonObject, pod: JsonObject): readonly Misfit[] {
  const resources = field(container, "resources");
  if (field(wanted, "resources") === undefined) return [];
  const limitsOfPod = field(field(pod, "resources"), "limits");
  const misfits: Misfit[] = [];
  for (const name of new Set(KINDS.flatMap((kind) => namesIn(field(field(wanted, "resources"), kind))))) {
    const [request, limit] = [amountIn(resources, "requests", name), amountIn(resources, "limits", name)];
    if (!fits(name, request, limit)) misfits.push({ fields: fieldsOf(name), reason: reasonFor(name) });
    else if (isAbove(limit, quantityOf(field(limitsOfPod, name)))) {
      misfits.push({ fields: [["resources", "limits", name]], reason: `the limit for ${name} is above that of the pod; ${LOWER}` });
    }
  }
  return [...misfits, ...lonelyHugePages(resources)];
}

const LOWER = "lower it in the service, or raise spec.resources of the pod in the Deployment";

function fieldsOf(name: string): Misfit["fields"] {
  return KINDS.map((kind) => ["resources", kind, name]);
}

const namesIn = (quantities: Json | undefined) => (isJsonObject(quantities) ? Object.keys(quantities).toSorted() : []);

function fits(name: string, requested: Quantity | undefined, limited: Quantity | undefined): boolean {
  if (requested === undefined) return true;
  if (limited === undefined) return !mustBeEqual(name);
  const order = compareQuantities(requested, limited);
  return order < 0 ? !mustBeEqual(name) : order === 0;
}

function amountIn(resources: Json | undefined, kind: Kind, name: string): Quantity | undefined {
  return quantityOf(field(field(resources, kind), name));
}

function quantityOf(value: Json | undefined): Quantity | undefined {
  const parsed = typeof value === "string" || typeof value === "number" ? parseQuantity(value) : undefined;
  return parsed?.ok === true ? parsed.value : undefined;
}

function isAbove(amount: Quantity | undefined, most: Quantity | undefined): boolean {
  return amount !== undefined && most !== undefined && compareQuantities(amount, most) > 0;
}

/** Huge pages and resources of devices cannot be overcommitted. */
function mustBeEqual(name: string): boolean {
  return isHugePages(name) || (name.includes("/") && !name.includes("kubernetes.io/"));
}

const isHugePages = (name: string) => name.startsWith("hugepages-");

const reasonFor = (name: string) =>
  `the request and the limit for ${name} of the service and of the Deployment do not fit each other; set both in the service`;

/** A container with huge pages needs cpu or memory as well. */
function lonelyHugePages(resources: Json | undefined): readonly Misfit[] {
  const names = KINDS.flatMap((kind) => namesIn(field(resources, kind)));
  if (!names.some(isHugePages) || names.some((name) => name === "cpu" || name === "memory")) return [];
  const reason = "huge pages need an amount of cpu or memory in the same container; set one in the service";
  return [{ fields: names.filter(isHugePages).flatMap(fieldsOf), reason }];
}

/** Amounts of containers of the patch, when all containers are together beyond the requests of the pod. */
export function requestMisfits(pod: JsonObject, patch: JsonObject): readonly Misfit[] {
  const most = field(field(pod, "resources"), "requests");
  if (!isJsonObject(most)) return [];
  const ours = CONTAINER_LISTS.flatMap((list) => listIn(patch, list).map((container) => ({ list, container })));
  const names = new Set(ours.flatMap(({ container }) => KINDS.flatMap((kind) => namesIn(field(field(container, "resources"), kind)))));
  return [...names].flatMap((name) => {
    const limit = quantityOf(field(most, name));
    if (limit === undefined || !isAbove(totalRequest(pod, name), limit)) return [];
    const fields = ours.flatMap(({ list, container }) => {
      const step = { key: { name: field(container, "name") ?? null } };
      return fieldsOf(name).map((inside) => [list, step, ...inside]);
    });
    return [{ fields, reason: `the requests for ${name} of all containers are above that of the pod; ${LOWER}` }];
  });
}

/** Of all containers and sidecars at a time, or of one init container with the sidecars before it. */
function totalRequest(pod: JsonObject, name: string): Quantity {
  let sidecars = NONE;
  let most = NONE;
  for (const container of listIn(pod, "initContainers")) {
    const together = addQuantities(sidecars, requestOf(container, name));
    if (field(container, "restartPolicy") === "Always") sidecars = together;
    if (isAbove(together, most)) most = together;
  }
  let total = sidecars;
  for (const container of listIn(pod, "containers")) total = addQuantities(total, requestOf(container, name));
  return isAbove(total, most) ? total : most;
}

const NONE = 0n as Quantity;

/** In a Pod, a limit without a request is the request too. */
function requestOf(container: Json, name: string): Quantity {
  const resources = field(container, "resources");
  return amountIn(resources, "requests", name) ?? amountIn(resources, "limits", name) ?? NONE;
}
