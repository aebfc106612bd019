/** LimitRange and ResourceQuota. */
import { repeats } from "#base";
import { quantityToNumber, type JsonObject, type Quantity } from "#kube";
import { resourceQuotaCells } from "../cells/core.ts";
import { at, childOf, entriesAt, objectsAt, textAt } from "../draft.ts";
import type { KindRules } from "../kind-rules.ts";
import { type Causes, duplicate, forbidden, invalid, invalidEach, required } from "../rules/causes.ts";
import { qualifiedName } from "../rules/formats.ts";
import { isHugePages, quantityOf, validateContainerResourceName, validateQuantity, validateResourceName } from "../rules/pod/resources.ts";
import { QUOTA_RESOURCES, sameScopes, validateScopes } from "./quota-scopes.ts";

export const limitRange: KindRules = {
  createOnUpdate: true,
  // the one kind whose objects need no name of their own
  prepareCreate: (draft) => {
    if (textAt(draft, "metadata", "name") === "") childOf(draft, "metadata")["name"] = at(draft, "metadata", "uid");
  },
  onUpdate: "all-anew",
  validate: (object) => {
    const limits = objectsAt(object, "spec", "limits");
    const types = limits.map((limit) => textAt(limit, "type"));
    const stoodBefore = repeats(types);
    return limits.flatMap((limit, index) => [
      ...validateType(types[index] ?? "", `spec.limits[${index}].type`, stoodBefore(types[index] ?? "", index)),
      ...validateLimit(limit, `spec.limits[${index}]`),
    ]);
  },
};

const TYPES = ["Container", "PersistentVolumeClaim", "Pod"];

function validateType(type: string, path: string, again: boolean): Causes {
  const form = invalidEach(path, type, qualifiedName(type));
  const unknown = form.length === 0 && !type.includes("/") && !TYPES.includes(type);
  return [
    ...form,
    ...(unknown ? [invalid(path, type, "must be a standard limit type or fully qualified")] : []),
    ...(again ? [duplicate(path, type)] : []),
  ];
}

const LIMIT_MAPS = ["max", "min", "default", "defaultRequest", "maxLimitRequestRatio"] as const;

function validateLimit(limit: JsonObject, path: string): Causes {
  const type = textAt(limit, "type");
  const names = [...new Set(LIMIT_MAPS.flatMap((map) => entriesAt(limit, map).map(([name]) => name)))];
  const ofPod = type === "Pod" ? (["default", "defaultRequest"] as const).filter((map) => entriesAt(limit, map).length > 0) : [];
  const nameRule = type === "Pod" || type === "Container" ? validateContainerResourceName : validateResourceName;
  const bounded = type !== "PersistentVolumeClaim" || ["min", "max"].some((map) => textAt(limit, map, "storage") !== "");
  return [
    ...LIMIT_MAPS.filter((map) => !ofPod.some((one) => one === map)).flatMap((map) =>
      entriesAt(limit, map).flatMap(([name]) => nameRule(name, `${path}.${map}[${name}]`)),
    ),
    ...ofPod.map((map) => forbidden(`${path}.${map}`, "may not be specified when `type` is 'Pod'")),
    ...(bounded ? [] : [required(`${path}.limits`, "either minimum or maximum storage value is required, but neither was provided")]),
    ...names.flatMap((name) => [...validateOrder(limit, name, path), ...validateRatio(limit, name, path)]),
  ];
}

function validateRatio(limit: JsonObject, name: string, path: string): Causes {
  const [ratio, min, max] = ["maxLimitRequestRatio", "min", "max"].map((map) => textAt(limit, map, name)) as [string, string, string];
  if (ratio === "") return [];
  const at = `${path}.maxLimitRequestRatio[${name}]`;
  const value = quantityToNumber(quantityOf(ratio) ?? (0n as Quantity));
  const most = min === "" || max === "" ? undefined : Number(quantityOf(max) ?? 0n) / Number(quantityOf(min) ?? 1n);
  return [
    ...(value < 1 ? [invalid(at, ratio, `ratio ${ratio} is less than 1`)] : []),
    ...(most !== undefined && value > most ? [invalid(at, ratio, `ratio ${ratio} is greater than max/min = ${most.toFixed(6)}`)] : []),
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
  validate: (object) => [
    ...entriesAt(object, "spec", "hard").flatMap(([name, amount]) => {
      const path = `spec.hard[${name}]`;
      return [...validateQuotaName(name, path), ...validateQuantity(name, amount, path)];
    }),
    ...validateScopes(object),
  ],
  validateUpdate: sameScopes,
  deletion: { answersObject: true },
  cells: resourceQuotaCells,
};

function validateQuotaName(name: string, path: string): Causes {
  const standard = name.includes("/") || QUOTA_RESOURCES.has(name) || isHugePages(name.replace(/^requests\./, ""));
  return [...validateResourceName(name, path), ...(standard ? [] : [invalid(path, name, "must be a standard resource for quota")])];
}
