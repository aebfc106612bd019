/**
 * CSIDriver and CSINode: what a storage driver says of itself, and of the nodes on which it runs.
 *
 * The server says "attachedRequired" of the field `attachRequired`, and names a driver where it means one of its topology keys.
 */
import { repeats } from "#base";
import { jsonEqual, type JsonObject, type KubeObject } from "#kube";
import { csiDriverCells, valuesThenAge } from "../cells/others.ts";
import { at, listAt, numberAt, objectsAt, textAt, textsAt } from "../draft.ts";
import type { KindRules } from "../kind-rules.ts";
import { type Causes, duplicate, immutable, invalid, invalidEach, nonNegative, notSupported, required } from "../rules/causes.ts";
import { dnsSubdomain, qualifiedName } from "../rules/formats.ts";
import { ifSetOneOf, requiredText } from "../rules/shared.ts";

const TOKENS_IN_ATTRIBUTES =
  "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes";

export const csiDriver: KindRules = {
  needsVersionOnUpdate: true,
  onUpdate: "meta-and-spec-first",
  generation: (object) => at(object, "spec"),
  generationAfterChange: true,
  validate: validateDriver,
  validateUpdate: (next, previous) =>
    [["attachRequired", "spec.attachedRequired"] as const, ["volumeLifecycleModes", "spec.volumeLifecycleModes"] as const].flatMap(
      ([name, path]) =>
        jsonEqual(at(next, "spec", name), at(previous, "spec", name)) ? [] : [immutable(path, at(next, "spec", name) ?? null)],
    ),
  warnings: (next, previous) => (leaksTokens(next) && (previous === undefined || !leaksTokens(previous)) ? [TOKENS_IN_ATTRIBUTES] : []),
  deletion: { answersObject: true },
  cells: csiDriverCells,
};

function leaksTokens(driver: KubeObject): boolean {
  return objectsAt(driver, "spec", "tokenRequests").length > 0 && at(driver, "spec", "serviceAccountTokenInSecrets") === undefined;
}

const GROUP_POLICIES = ["File", "None", "ReadWriteOnceWithFSType"];
const LIFECYCLES = ["Persistent", "Ephemeral"];
const SHORTEST_PERIOD = 10;

function validateDriver(object: KubeObject): Causes {
  const period = numberAt(object, "spec", "nodeAllocatableUpdatePeriodSeconds");
  const [inSecrets, requests] = [at(object, "spec", "serviceAccountTokenInSecrets"), objectsAt(object, "spec", "tokenRequests")];
  return [
    ...ifSetOneOf("spec.fsGroupPolicy", at(object, "spec", "fsGroupPolicy"), GROUP_POLICIES),
    ...validateTokenRequests(requests),
    ...textsAt(object, "spec", "volumeLifecycleModes").flatMap((mode) =>
      LIFECYCLES.includes(mode) ? [] : [notSupported("spec.volumeLifecycleModes", mode, LIFECYCLES)],
    ),
    ...(period !== undefined && period < SHORTEST_PERIOD
      ? [invalid("spec.nodeAllocatableUpdatePeriodSeconds", period, "must be greater than or equal to 10 seconds")]
      : []),
    ...(inSecrets !== undefined && requests.length === 0
      ? [invalid("spec.serviceAccountTokenInSecrets", inSecrets, "serviceAccountTokenInSecrets is set but no tokenRequests are specified")]
      : []),
  ];
}

function validateTokenRequests(requests: readonly JsonObject[]): Causes {
  const stoodBefore = repeats(requests.map((request) => textAt(request, "audience")));
  return requests.flatMap((request, index): Causes => {
    const path = `spec.tokenRequests[${index}]`;
    const audience = textAt(request, "audience");
    if (stoodBefore(audience, index)) return [duplicate(`${path}.audience`, audience)];
    const seconds = numberAt(request, "expirationSeconds");
    if (seconds === undefined) return [];
    if (seconds < 600) return [invalid(`${path}.expirationSeconds`, seconds, "may not specify a duration less than 10 minutes")];
    if (seconds <= 2 ** 32) return [];
    return [invalid(`${path}.expirationSeconds`, seconds, "may not specify a duration larger than 2^32 seconds")];
  });
}

export const csiNode: KindRules = {
  needsVersionOnUpdate: true,
  validate: (object) => validateNodeDrivers(objectsAt(object, "spec", "drivers")),
  validateUpdate: (next, previous) => {
    // of one name there is one driver: others are refused anyway
    const byName = new Map(objectsAt(next, "spec", "drivers").map((driver) => [textAt(driver, "name"), driver]));
    return objectsAt(previous, "spec", "drivers").flatMap((old) => {
      const driver = byName.get(textAt(old, "name"));
      return driver === undefined || jsonEqual(fixedPart(old), fixedPart(driver)) ? [] : [immutable("spec.drivers", fixedPart(driver))];
    });
  },
  deletion: { answersObject: true },
  cells: valuesThenAge((object) => listAt(object, "spec", "drivers").length),
};

/** How much a driver takes may change; the server shows its internal struct without it. */
function fixedPart(driver: JsonObject): JsonObject {
  const keys = textsAt(driver, "topologyKeys");
  return {
    Name: textAt(driver, "name"),
    NodeID: textAt(driver, "nodeID"),
    TopologyKeys: keys.length === 0 ? null : [...keys],
    Allocatable: null,
  };
}

const MAX_NODE_ID = 256;

function validateNodeDrivers(drivers: readonly JsonObject[]): Causes {
  const stoodBefore = repeats(drivers.map((driver) => textAt(driver, "name")));
  return drivers.flatMap((driver, index) => {
    const path = `spec.drivers[${index}]`;
    const [name, node] = [textAt(driver, "name"), textAt(driver, "nodeID")];
    return [
      ...requiredText(`${path}.name`, name, dnsSubdomain),
      ...(node === "" ? [required(`${path}.nodeID`)] : []),
      ...(node.length > MAX_NODE_ID ? [invalid(`${path}.nodeID`, node, `must be ${MAX_NODE_ID} characters or less`)] : []),
      ...nonNegative(`${path}.allocatable.count`, numberAt(driver, "allocatable", "count")),
      ...(stoodBefore(name, index) ? [duplicate(`${path}.name`, name)] : []),
      ...validateTopologyKeys(textsAt(driver, "topologyKeys"), path),
    ];
  });
}

function validateTopologyKeys(keys: readonly string[], path: string): Causes {
  const stoodBefore = repeats(keys);
  return keys.flatMap((key, index) => [
    ...(key === "" ? [required(path)] : []),
    ...(stoodBefore(key, index) ? [duplicate(path, key)] : []),
    ...invalidEach(path, key, qualifiedName(key)),
  ]);
}

/** The real server reports every pair; here the number is limited. */
const MOST_ALIKE = 100;

/** Where volumes of a StorageClass may be: no two terms may say the same. */
export function validateTopologies(terms: readonly JsonObject[], path: string): Causes {
  const counts = new Map<string, number>();
  let left = MOST_ALIKE;
  return terms.flatMap((term, index) => {
    const at = `${path}[${index}].matchLabelExpressions`;
    const shape = shapeOf(term);
    const alike = counts.get(shape) ?? 0;
    counts.set(shape, alike + 1);
    // the server compares with as many empty terms as there are terms, before it compares with the real ones
    const again = Math.min(left, alike + (shape === "[]" ? terms.length : 0));
    left -= again;
    return [...validateTerm(objectsAt(term, "matchLabelExpressions"), at), ...Array.from({ length: again }, () => duplicate(at, ""))];
  });
}

function shapeOf(term: JsonObject): string {
  const byKey = new Map(
    objectsAt(term, "matchLabelExpressions").map((one) => [textAt(one, "key"), [...new Set(textsAt(one, "values"))].toSorted()]),
  );
  return JSON.stringify([...byKey].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

function validateTerm(expressions: readonly JsonObject[], path: string): Causes {
  const keyStoodBefore = repeats(expressions.map((one) => textAt(one, "key")));
  return expressions.flatMap((one, index) => {
    const [key, values] = [textAt(one, "key"), textsAt(one, "values")];
    const stoodBefore = repeats(values);
    return [
      ...(values.length === 0 ? [required(`${path}[${index}].values`)] : []),
      ...values.flatMap((value, place) => (stoodBefore(value, place) ? [duplicate(`${path}[${index}].values[${place}]`, value)] : [])),
      ...invalidEach(`${path}[${index}].key`, key, qualifiedName(key)),
      ...(keyStoodBefore(key, index) ? [duplicate(`${path}[${index}].key`, key)] : []),
    ];
  });
}
