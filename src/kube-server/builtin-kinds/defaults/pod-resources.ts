/** What a Pod's containers and the Pod itself request when only limits are given. Pod templates are left as they are. */
import { addQuantities, compareQuantities, parseQuantity, type JsonObject, type Quantity } from "#kube";
import { canonicalQuantity } from "../codec/quantity-text.ts";
import { childOf, draftsAt, objectAt, objectsAt, setField, textAt, type Draft } from "../draft.ts";

export function defaultPodResources(spec: Draft): void {
  for (const list of ["containers", "initContainers"]) {
    if (objectsAt(spec, list).some(lacksRequests)) for (const container of draftsAt(spec, list)) requestLimits(container);
  }
  if (objectAt(spec, "resources") !== undefined) defaultPodLevel(spec);
}

function lacksRequests(container: JsonObject): boolean {
  const requests = objectAt(container, "resources", "requests") ?? {};
  return Object.keys(objectAt(container, "resources", "limits") ?? {}).some((name) => !Object.hasOwn(requests, name));
}

function requestLimits(container: Draft): void {
  const limits = objectAt(container, "resources", "limits");
  if (limits === undefined) return;
  const requests = childOf(childOf(container, "resources"), "requests");
  for (const [name, value] of Object.entries(limits)) {
    if (!Object.hasOwn(requests, name)) setField(requests, name, value);
  }
}

/** The Pod as a whole requests what its containers do, and its limits where they say nothing. */
function defaultPodLevel(spec: Draft): void {
  const limits = objectAt(spec, "resources", "limits") ?? {};
  if (Object.keys(limits).length === 0) return;
  const wanted = new Map<string, string>();
  for (const name of ["cpu", "memory"]) {
    const sum = sumOfRequests(spec, name);
    if (sum !== undefined) wanted.set(name, sum);
  }
  for (const [name, value] of Object.entries(limits)) {
    if (!wanted.has(name) && typeof value === "string" && isPodLevel(name)) wanted.set(name, value);
  }
  if (wanted.size === 0) return;
  const requests = childOf(childOf(spec, "resources"), "requests");
  for (const [name, value] of wanted) if (!Object.hasOwn(requests, name)) setField(requests, name, value);
}

function isPodLevel(name: string): boolean {
  return name === "cpu" || name === "memory" || name.startsWith("hugepages-");
}

/** Sidecars add to the containers; other init containers run one by one before them. */
function sumOfRequests(spec: JsonObject, name: string): string | undefined {
  const containers = objectsAt(spec, "containers").map((container) => requestOf(container, name));
  const inits = objectsAt(spec, "initContainers");
  const sidecars = inits.filter((container) => container["restartPolicy"] === "Always").map((container) => requestOf(container, name));
  const single = inits.filter((container) => container["restartPolicy"] !== "Always").map((container) => requestOf(container, name));
  const together = [...containers, ...sidecars].filter((amount) => amount !== undefined);
  const total = together.reduce<Quantity | undefined>(
    (sum, amount) => (sum === undefined ? amount : addQuantities(sum, amount)),
    undefined,
  );
  const highest = [total, ...single]
    .filter((amount) => amount !== undefined)
    .toSorted(compareQuantities)
    .at(-1);
  return highest === undefined ? undefined : quantityText(highest);
}

function requestOf(container: JsonObject, name: string): Quantity | undefined {
  const parsed = parseQuantity(textAt(container, "resources", "requests", name));
  return parsed.ok ? parsed.value : undefined;
}

function quantityText(amount: Quantity): string {
  const text = canonicalQuantity(`${amount}n`);
  return text.ok ? text.value : "0";
}
