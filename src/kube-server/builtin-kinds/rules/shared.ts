/** Checks that many kinds share: enumerations, selectors, addresses, relative paths, file modes. */
import { matches, requirementsOf, type Json, type JsonObject } from "#kube";
import { at, entriesAt, objectsAt, textAt, textsAt } from "../draft.ts";
import { forbidden, invalid, invalidEach, joined, notSupported, required, type Causes } from "./causes.ts";
import { labelValue, qualifiedName, type TextRule } from "./formats.ts";
import { validateLabels } from "./object-meta.ts";

/** Required, and one of these. */
export function oneOf(path: string, value: string, supported: readonly string[]): Causes {
  if (value === "") return [required(path)];
  return supported.includes(value) ? [] : [notSupported(path, value, supported)];
}

/** One of these if it is there at all. */
export function ifSetOneOf(path: string, value: Json | undefined, supported: readonly string[]): Causes {
  if (value === undefined || value === null) return [];
  return typeof value === "string" && supported.includes(value) ? [] : [notSupported(path, value, supported)];
}

export function requiredText(path: string, value: string, rule?: TextRule): Causes {
  if (value === "") return [required(path)];
  return rule === undefined ? [] : invalidEach(path, value, rule(value));
}

export function textIfSet(path: string, value: string, rule: TextRule): Causes {
  return value === "" ? [] : invalidEach(path, value, rule(value));
}

export function validateLabelSelector(selector: JsonObject | undefined, path: string): Causes {
  if (selector === undefined) return [];
  const expressions = objectsAt(selector, "matchExpressions").flatMap((expression, index) =>
    validateRequirement(expression, `${path}.matchExpressions[${index}]`),
  );
  return joined(validateLabels(at(selector, "matchLabels"), `${path}.matchLabels`), expressions);
}

function validateRequirement(expression: JsonObject, path: string): Causes {
  const values = textsAt(expression, "values");
  return joined(
    validateOperator(textAt(expression, "operator"), values, path),
    invalidEach(`${path}.key`, textAt(expression, "key"), qualifiedName(textAt(expression, "key"))),
    values.flatMap((value, index) => invalidEach(`${path}.values[${index}]`, value, labelValue(value))),
  );
}

export function validateOperator(operator: string, values: readonly string[], path: string): Causes {
  switch (operator) {
    case "In":
    case "NotIn":
      return values.length > 0 ? [] : [required(`${path}.values`, "must be specified when `operator` is 'In' or 'NotIn'")];
    case "Exists":
    case "DoesNotExist":
      return values.length === 0 ? [] : [forbidden(`${path}.values`, "may not be specified when `operator` is 'Exists' or 'DoesNotExist'")];
    default:
      return [invalid(`${path}.operator`, operator, "not a valid selector operator")];
  }
}

/** Whether the selector selects what has these labels. */
export function selects(selector: JsonObject, labels: JsonObject | undefined): boolean {
  const texts = Object.fromEntries(entriesAt(labels));
  return validateLabelSelector(selector, "").length === 0 && matches(requirementsOf(selector), texts);
}

export function isEmptySelector(selector: JsonObject): boolean {
  return entriesAt(selector, "matchLabels").length + objectsAt(selector, "matchExpressions").length === 0;
}

const IPV4 = /^(25[0-5]|2[0-4]\d|1?\d?\d)(\.(25[0-5]|2[0-4]\d|1?\d?\d)){3}$/;

export function ipFamilyOf(address: string): "IPv4" | "IPv6" | undefined {
  if (IPV4.test(address)) return "IPv4";
  return isIPv6(address) ? "IPv6" : undefined;
}

function isIPv6(address: string): boolean {
  const [head = "", tail, ...more] = address.split("::");
  if (more.length > 0 || !address.includes(":")) return false;
  const groups = [head, tail ?? ""].flatMap((part) => (part === "" ? [] : part.split(":")));
  const last = groups.at(-1) ?? "";
  const embedded = IPV4.test(last);
  const hex = embedded ? groups.slice(0, -1) : groups;
  const count = hex.length + (embedded ? 2 : 0);
  return hex.every((group) => /^[0-9a-fA-F]{1,4}$/.test(group)) && (tail === undefined ? count === 8 : count <= 7);
}

export const IP_MESSAGE = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";

export function validateIP(path: string, address: string): Causes {
  return ipFamilyOf(address) === undefined ? [invalid(path, address, IP_MESSAGE)] : [];
}

export function isCidr(text: string): boolean {
  const [address = "", bits = "", ...more] = text.split("/");
  const family = ipFamilyOf(address);
  return more.length === 0 && family !== undefined && /^\d{1,3}$/.test(bits) && Number(bits) <= (family === "IPv4" ? 32 : 128);
}

export const CIDR_MESSAGE = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";

export function noBacksteps(path: string, target: string): Causes {
  return target.split("/").includes("..") ? [invalid(path, target, "must not contain '..'")] : [];
}

export function relativePath(path: string, target: string): Causes {
  return joined(target.startsWith("/") ? [invalid(path, target, "must be a relative path")] : [], noBacksteps(path, target));
}

export function localPath(path: string, target: string): Causes {
  const reserved = target.startsWith("..") && !target.startsWith("../");
  return joined(relativePath(path, target), reserved ? [invalid(path, target, "must not start with '..'")] : []);
}

export function fileMode(path: string, mode: number | undefined): Causes {
  const wrong = mode !== undefined && (mode < 0 || mode > 0o777);
  return wrong ? [invalid(path, mode, "must be a number between 0 and 0777 (octal), both inclusive")] : [];
}

/** A count or a percentage. */
export function intOrPercent(path: string, value: Json | undefined): Causes {
  if (typeof value === "string") {
    const whole = /^[0-9]+%$/.test(value);
    return whole ? [] : [invalid(path, value, PERCENT_MESSAGE)];
  }
  return typeof value === "number" && value < 0 ? [invalid(path, value, "must be greater than or equal to 0")] : [];
}

const PERCENT_MESSAGE =
  "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')";

export function notMoreThan100Percent(path: string, value: Json | undefined): Causes {
  const percent = typeof value === "string" ? /^([0-9]+)%$/.exec(value)?.[1] : undefined;
  return percent !== undefined && Number(percent) > 100 ? [invalid(path, value, "must not be greater than 100%")] : [];
}

/** Addresses that mean something else on every machine. */
export function specialAddress(path: string, ip: string): Causes {
  if (ip === "0.0.0.0" || ip === "::") return [invalid(path, ip, `may not be unspecified (${ip})`)];
  if (ip.startsWith("127.") || ip === "::1") return [invalid(path, ip, "may not be in the loopback range (127.0.0.0/8, ::1/128)")];
  if (ip.startsWith("169.254.")) return [invalid(path, ip, "may not be in the link-local range (169.254.0.0/16, fe80::/10)")];
  return ip.startsWith("224.0.0.") ? [invalid(path, ip, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)")] : [];
}
