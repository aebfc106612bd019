/** Requests and limits: names of resources, amounts, and that nothing is requested beyond its limit. */
import { memoize } from "#base";
import { compareQuantities, parseQuantity, type JsonObject, type Quantity } from "#kube";
import { entriesAt, textAt } from "../../draft.ts";
import { forbidden, invalid, invalidEach, joined, NO_CAUSES, NOT_NEGATIVE, required, type Causes } from "../causes.ts";
import { qualifiedName } from "../formats.ts";
import { validateUsedClaims } from "./resource-claims.ts";

const CONTAINER = new Set(["cpu", "memory", "ephemeral-storage"]);
const COUNTED =
  "pods resourcequotas services replicationcontrollers secrets configmaps persistentvolumeclaims services.nodeports services.loadbalancers".split(
    " ",
  );
const COMPUTE = ["cpu", "memory", "ephemeral-storage"];
const STANDARD = new Set([
  ...COUNTED,
  ...COMPUTE,
  "storage",
  "requests.storage",
  ...["requests", "limits"].flatMap((kind) => COMPUTE.map((name) => `${kind}.${name}`)),
]);
const INTEGERS = new Set(COUNTED);

/** Most workloads ask for the same few amounts. */
const knownQuantity = memoize({ limit: 2_000 }, parseQuantity);

export function quantityOf(text: string): Quantity | undefined {
  const parsed = knownQuantity(text);
  return parsed.ok ? parsed.value : undefined;
}

export const isHugePages = (name: string) => name.startsWith("hugepages-");
const isNative = (name: string) => !name.includes("/") || name.includes("kubernetes.io/");
const isExtended = (name: string) => !isNative(name) && !name.startsWith("requests.") && qualifiedName(`requests.${name}`).length === 0;
/** All native resources except huge pages can be overcommitted. */
const canOvercommit = (name: string) => isNative(name) && !isHugePages(name);

export function validateResourceName(name: string, path: string): Causes {
  const form = invalidEach(path, name, qualifiedName(name));
  if (form.length > 0) return form;
  const standard = name.includes("/") || STANDARD.has(name) || isHugePages(name);
  return standard ? [] : [invalid(path, name, "must be a standard resource type or fully qualified")];
}

export function validateContainerResourceName(name: string, path: string): Causes {
  const causes = validateResourceName(name, path);
  if (!name.includes("/")) {
    const known = CONTAINER.has(name) || isHugePages(name);
    return known ? causes : [...causes, invalid(path, name, "must be a standard resource for containers")];
  }
  return isNative(name) || isExtended(name) ? causes : [...causes, invalid(path, name, "doesn't follow extended resource name standard")];
}

export function validateQuantity(name: string, amount: string, path: string): Causes {
  const quantity = quantityOf(amount) ?? (0n as Quantity);
  const whole = quantity % 1_000_000_000n === 0n;
  const integer = INTEGERS.has(name) || isExtended(name);
  return joined(
    quantity < 0n ? [invalid(path, amount, NOT_NEGATIVE)] : [],
    integer && !whole ? [invalid(path, amount, "must be an integer")] : [],
  );
}

export function validateRequirements(resources: JsonObject | undefined, path: string, claims: ReadonlySet<string>): Causes {
  if (resources === undefined) return NO_CAUSES;
  const [limits, requests] = [entriesAt(resources, "limits"), entriesAt(resources, "requests")];
  const has = (fits: (name: string) => boolean) => limits.some(([name]) => fits(name)) || requests.some(([name]) => fits(name));
  const hugeAlone = has(isHugePages) && !has((name) => name === "cpu" || name === "memory");
  return joined(
    limits.flatMap(([name, amount]) => validateAmount(name, amount, `${path}.limits[${name}]`)),
    requests.flatMap(([name, amount]) =>
      joined(
        validateAmount(name, amount, `${path}.requests[${name}]`),
        validateAgainstLimit({ name, amount, limit: textAt(resources, "limits", name) }, path),
      ),
    ),
    hugeAlone ? [forbidden(path, "HugePages require cpu or memory")] : [],
    validateUsedClaims(resources, `${path}.claims`, claims),
  );
}

function validateAmount(name: string, amount: string, path: string): Causes {
  return joined(validateContainerResourceName(name, path), validateQuantity(name, amount, path));
}

type Request = { readonly name: string; readonly amount: string; readonly limit: string };

function validateAgainstLimit({ name, amount, limit }: Request, path: string): Causes {
  if (limit === "") return canOvercommit(name) ? [] : [required(`${path}.limits`, "Limit must be set for non overcommitable resources")];
  const order = compareQuantities(quantityOf(amount) ?? (0n as Quantity), quantityOf(limit) ?? (0n as Quantity));
  if (order !== 0 && !canOvercommit(name)) return [invalid(`${path}.requests`, amount, `must be equal to ${name} limit of ${limit}`)];
  return order > 0 ? [invalid(`${path}.requests`, amount, `must be less than or equal to ${name} limit of ${limit}`)] : [];
}
