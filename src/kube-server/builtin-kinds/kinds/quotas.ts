/** LimitRange and ResourceQuota. */
import type { JsonObject } from "#kube";
import { resourceQuotaCells } from "../cells/core.ts";
import { entriesAt, objectsAt, textAt } from "../draft.ts";
import type { KindRules } from "../kind-rules.ts";
import { type Causes, forbidden, invalid, invalidEach } from "../rules/causes.ts";
import { qualifiedName } from "../rules/formats.ts";
import { quantityOf, validateQuantity, validateResourceName } from "../rules/pod/resources.ts";
import { oneOf } from "../rules/shared.ts";

export const limitRange: KindRules = {
  createOnUpdate: true,
  onUpdate: "meta-and-spec-first",
  validate: (object) => objectsAt(object, "spec", "limits").flatMap((limit, index) => validateLimit(limit, `spec.limits[${index}]`)),
};

const LIMIT_MAPS = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] as const;

function validateLimit(limit: JsonObject, path: string): Causes {
  const type = textAt(limit, "type");
  const names = [...new Set(LIMIT_MAPS.flatMap((map) => entriesAt(limit, map).map(([name]) => name)))];
  const ofPod = type === "Pod" ? (["default", "defaultRequest"] as const).filter((map) => entriesAt(limit, map).length > 0) : [];
  return [
    ...oneOf(`${path}.type`, type, ["Container", "PersistentVolumeClaim", "Pod"]).filter(() => !type.includes("/")),
    ...ofPod.map((map) => forbidden(`${path}.${map}`, "may not be specified when `type` is 'Pod'")),
    ...names.flatMap((name) => validateOrder(limit, name, path)),
  ];
}

function validateOrder(limit: JsonObject, name: string, path: string): Causes {
  const [min, max, fallback, request] = (["min", "max", "default", "defaultRequest"] as const).map((map) => textAt(limit, map, name)) as [
    string,
    string,
    string,
    string,
  ];
  const above = (a: string, b: string) => a !== "" && b !== "" && (quantityOf(a) ?? 0n) > (quantityOf(b) ?? 0n);
  const order = (map: string, value: string, what: string, other: string, sign: string) =>
    invalid(`${path}.${map}[${name}]`, value, `${what} value ${value} is ${sign} ${other}`);
  return [
    ...(above(min, max) ? [order("min", min, "min", `max value ${max}`, "greater than")] : []),
    ...(above(min, request)
      ? [invalid(`${path}.defaultRequest[${name}]`, request, `min value ${min} is greater than default request value ${request}`)]
      : []),
    ...(above(request, max) ? [order("defaultRequest", request, "default request", `max value ${max}`, "greater than")] : []),
    ...(above(request, fallback)
      ? [order("defaultRequest", request, "default request", `default limit value ${fallback}`, "greater than")]
      : []),
    ...(above(min, fallback) ? [order("default", min, "min", `default value ${fallback}`, "greater than")] : []),
    ...(above(fallback, max)
      ? [
          {
            ...order("default", max, "default", `max value ${max}`, "greater than"),
            detail: `Invalid value: "${max}": default value ${fallback} is greater than max value ${max}`,
          },
        ]
      : []),
  ];
}

export const resourceQuota: KindRules = {
  onUpdate: "spec-between",
  validate: (object) =>
    entriesAt(object, "spec", "hard").flatMap(([name, amount]) => {
      const path = `spec.hard[${name}]`;
      return [...validateQuotaName(name, path), ...validateQuantity(name, amount, path)];
    }),
  deletion: { answersObject: true },
  cells: resourceQuotaCells,
};

function validateQuotaName(name: string, path: string): Causes {
  const counted = name.startsWith("count/") || name.includes(".storageclass.storage.k8s.io/") || /^(requests|limits)\./.test(name);
  if (counted) return invalidEach(path, name, qualifiedName(name));
  return validateResourceName(name, path);
}
