/**
 * Schemas of objects, lists, maps and free-form JSON, used by every kind.
 *
 * Every map and list has a limit: the API server estimates the cost of a CEL rule from the largest value that the schema allows, and
 * rejects a CRD whose rules could be too expensive.
 */
import * as z from "zod";
import { NAME_RULES, parseDataKey, parseDnsLabel, parseEnvName, parsePortName } from "#kube";
import { described } from "./described.ts";
import { celPattern, matcher, withRules, type RelativePath } from "./rules.ts";

/** An object whose fields are all known: any other field is an error. */
export function object<S extends z.ZodRawShape>(description: string, shape: S) {
  return described(z.strictObject(shape), description);
}

/** A part that few objects have: its schema is created at first use, which saves start time. */
export function later<S extends z.ZodType>(make: () => S): z.ZodLazy<S> {
  return z.lazy(make);
}

/** A rule for the keys of a map. `cel` uses the variable `key`. */
export type KeyRule = { readonly cel: string; readonly message: string; readonly holds: (key: string) => boolean };

type MapOptions = { readonly max: number; readonly keys?: KeyRule; readonly notEmpty?: boolean };

/** A map with keys that users choose. Read it with Object.entries or Object.hasOwn: "constructor" may be a valid key. */
export function mapOf<V extends z.ZodType>(description: string, values: V, { max, keys, notEmpty = false }: MapOptions) {
  const least = notEmpty ? 1 : 0;
  const checked = z.record(z.string(), values).superRefine((map, context) => {
    const size = Object.keys(map).length;
    if (size > max) context.addIssue({ code: "custom", message: `must have at most ${max} entries, and has ${size}` });
    if (size < least) context.addIssue({ code: "custom", message: "must have at least one entry" });
  });
  const sized = described(checked, { description, maxProperties: max, ...(notEmpty ? { minProperties: least } : {}) });
  if (keys === undefined) return sized;
  const violations = (map: object): readonly RelativePath[] =>
    Object.keys(map)
      .filter((key) => !keys.holds(key))
      .map((key) => [key]);
  return withRules(sized, [{ cel: `self.all(key, ${keys.cel})`, message: keys.message, violations }]);
}

type ListOptions = {
  readonly max: number;
  readonly notEmpty?: boolean;
  /** How server-side apply merges the list. `set`: values are unique. `map`: items have unique `keys`. `atomic`: the list is replaced. */
  readonly type: "set" | "atomic" | { readonly keys: readonly string[] };
};

export function listOf<V extends z.ZodType>(description: string, items: V, { max, type, notEmpty = false }: ListOptions) {
  const keys = typeof type === "string" ? undefined : type.keys;
  const unique = z.superRefine<readonly unknown[]>((values, context) => {
    for (const index of duplicates(values, keys)) {
      context.addIssue({ code: "custom", path: [index], message: "is in the list already; remove one of the two" });
    }
  });
  const checks = [z.maxLength(max), ...(notEmpty ? [z.minLength(1)] : []), ...(type === "atomic" ? [] : [unique])];
  return described(z.array(items).check(...checks), {
    description,
    "x-kubernetes-list-type": keys === undefined ? type : "map",
    ...(keys === undefined ? {} : { "x-kubernetes-list-map-keys": keys }),
  });
}

function duplicates(values: readonly unknown[], keys: readonly string[] | undefined): readonly number[] {
  const seen = new Set<string>();
  return values.flatMap((value, index) => {
    const fields = value as Readonly<Record<string, unknown>>;
    const identity = JSON.stringify(keys === undefined ? value : keys.map((key) => fields[key] ?? null));
    if (seen.has(identity)) return [index];
    seen.add(identity);
    return [];
  });
}

/** Any value, passed on unchanged: only the component that reads it validates it. */
export function anyFields(description: string, max: number) {
  return mapOf(description, z.unknown(), { max }).meta({
    description,
    maxProperties: max,
    "x-kubernetes-preserve-unknown-fields": true,
  });
}

function patternKeys(what: string, rule: { pattern: string; max: number; advice: string }, holds: (key: string) => boolean): KeyRule {
  return {
    cel: `size(key) <= ${rule.max} && key.matches(${celPattern(rule.pattern)})`,
    message: `${what}: at most ${rule.max} ${rule.advice}`,
    holds,
  };
}

export const dnsLabelKeys = patternKeys(
  "each name must be a lowercase RFC 1123 label",
  NAME_RULES.dnsLabel,
  (key) => parseDnsLabel(key).ok,
);

/** `__proto__` is a valid variable name in Linux but unsafe as a JavaScript property, so CEL and the parser both reject it. */
export const envNameKeys: KeyRule = {
  cel: `key != '__proto__' && key != '.' && !key.startsWith('..') && size(key) <= 253 && key.matches(${celPattern(NAME_RULES.envName.pattern)})`,
  message: "each name must be an environment variable's: letters, digits, '_', '-' and '.', not beginning with a digit or '..'",
  // a variable name is also a key of a ConfigMap or Secret
  holds: (key) => key !== "__proto__" && parseEnvName(key).ok && parseDataKey(key).ok,
};

export const portNameKeys: KeyRule = {
  cel: `size(key) <= 15 && key.matches(${celPattern(NAME_RULES.portName.pattern)}) && key.matches('[a-z]') && !key.contains('--')`,
  message: "each name must be a port's: at most 15 lower case letters, digits and '-', with a letter, and no '--'",
  holds: (key) => parsePortName(key).ok,
};

export const dataKeys: KeyRule = {
  cel: `size(key) <= 253 && key != '.' && key != '__proto__' && !key.startsWith('..') && key.matches(${celPattern(NAME_RULES.dataKey.pattern)})`,
  message: "each key must be a key of a Secret: letters, digits, '-', '_' and '.', and not begin with '..'",
  holds: (key) => key !== "__proto__" && parseDataKey(key).ok,
};

const DNS_PREFIX = NAME_RULES.dnsSubdomain.pattern.slice(1, -1);
const LABEL_KEY = `^(${DNS_PREFIX}/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$`;
const isLabelKey = matcher(LABEL_KEY);

/** Kubernetes' own limits: 253 characters of prefix, "/" and 63 of name. */
export const labelKeys: KeyRule = {
  cel: `size(key) <= 317 && key.matches(${celPattern(LABEL_KEY)})`,
  message: "each key must be a label's: an optional DNS prefix and '/', then at most 63 letters, digits, '-', '_' and '.'",
  holds: (key) => key.length <= 317 && isLabelKey(key),
};

const ABSOLUTE_PATH = "^/[^:]*[^:/]$";
const isAbsolutePath = matcher(ABSOLUTE_PATH);

export const pathKeys: KeyRule = {
  cel: `size(key) <= 512 && key.matches(${celPattern(ABSOLUTE_PATH)})`,
  message: "each path must be absolute: at most 512 characters, beginning with '/', not ending with it, and without ':'",
  holds: (key) => key.length <= 512 && isAbsolutePath(key),
};
