/**
 * Names as Kubernetes accepts them. Each is a brand that only its parser creates. The parsers' messages are those of the API server,
 * because users search for them.
 */
import { err, memoizeByObject, ok, type Brand, type Result } from "#base";

/** RFC 1123 label: names of namespaces and containers. */
export type DnsLabel = Brand<string, "DnsLabel">;
/** RFC 1123 subdomain: names of most objects. */
export type DnsSubdomain = Brand<string, "DnsSubdomain">;
/** RFC 1035 label: names of Services. */
export type ServiceName = Brand<string, "ServiceName">;
export type NamespaceName = Brand<string, "NamespaceName">;
export type LabelKey = Brand<string, "LabelKey">;
export type LabelValue = Brand<string, "LabelValue">;
/** A key in a ConfigMap or Secret. */
export type DataKey = Brand<string, "DataKey">;
/** An environment variable that `envFrom` can set. */
export type EnvName = Brand<string, "EnvName">;
export type PortName = Brand<string, "PortName">;

type Rule = { readonly what: string; readonly pattern: string; readonly max: number; readonly advice: string };

/** Patterns and lengths are shared with the CRD schemas, so that both reject the same names. */
export const NAME_RULES = {
  dnsLabel: {
    what: "a lowercase RFC 1123 label",
    pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
    max: 63,
    advice: "lower case letters, digits and '-', beginning and ending with a letter or digit",
  },
  dnsSubdomain: {
    what: "a lowercase RFC 1123 subdomain",
    pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$",
    max: 253,
    advice: "lower case letters, digits, '-' and '.', beginning and ending with a letter or digit",
  },
  serviceName: {
    what: "a DNS-1035 label",
    pattern: "^[a-z]([-a-z0-9]*[a-z0-9])?$",
    max: 63,
    advice: "lower case letters, digits and '-', beginning with a letter and ending with a letter or digit",
  },
  labelValue: {
    what: "a label value",
    pattern: "^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$",
    max: 63,
    advice: "empty, or letters, digits, '-', '_' and '.', beginning and ending with a letter or digit",
  },
  qualifiedName: {
    what: "a qualified name",
    pattern: "^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$",
    max: 63,
    advice: "letters, digits, '-', '_' and '.', beginning and ending with a letter or digit",
  },
  dataKey: { what: "a data key", pattern: "^[-._a-zA-Z0-9]+$", max: 253, advice: "letters, digits, '-', '_' and '.'" },
  envName: {
    what: "an environment variable name",
    pattern: "^[-._A-Za-z][-._A-Za-z0-9]*$",
    max: 253,
    advice: "letters, digits, '_', '-' and '.', not beginning with a digit",
  },
  portName: {
    what: "a port name",
    pattern: "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
    max: 15,
    advice: "at most 15 lower case letters, digits and '-', beginning and ending with a letter or digit",
  },
} as const satisfies Record<string, Rule>;

const patternOf = memoizeByObject(({ pattern }: Rule) => new RegExp(pattern));

function check<T extends string>(raw: string, rule: Rule): Result<T, string> {
  if (raw.length > rule.max) return err(`must be ${rule.what}: at most ${rule.max} characters, and this has ${raw.length}`);
  return patternOf(rule).test(raw) ? ok(raw as T) : err(`"${raw}" must be ${rule.what}: ${rule.advice}`);
}

export const parseDnsLabel = (raw: string): Result<DnsLabel, string> => check(raw, NAME_RULES.dnsLabel);
export const parseDnsSubdomain = (raw: string): Result<DnsSubdomain, string> => check(raw, NAME_RULES.dnsSubdomain);
export const parseNamespace = (raw: string): Result<NamespaceName, string> => check(raw, NAME_RULES.dnsLabel);
export const parseLabelValue = (raw: string): Result<LabelValue, string> => check(raw, NAME_RULES.labelValue);
export const parseEnvName = (raw: string): Result<EnvName, string> => check(raw, NAME_RULES.envName);

/** A port name also needs a letter, and no two '-' in a row. */
export function parsePortName(raw: string): Result<PortName, string> {
  if (!/[a-z]/.test(raw) || raw.includes("--")) return err(`"${raw}" must be a port name: with a letter, and no "--"`);
  return check(raw, NAME_RULES.portName);
}

/** A data key may not be "." or begin with "..": it becomes a file name. */
export function parseDataKey(raw: string): Result<DataKey, string> {
  if (raw === "." || raw.startsWith("..")) return err(`"${raw}" must be a data key: not "." and not beginning with ".."`);
  return check(raw, NAME_RULES.dataKey);
}

/** "name" or "prefix/name". */
export function parseLabelKey(raw: string): Result<LabelKey, string> {
  const slash = raw.indexOf("/");
  const prefix = slash < 0 ? undefined : check(raw.slice(0, slash), NAME_RULES.dnsSubdomain);
  if (prefix !== undefined && !prefix.ok) return prefix;
  const name = check(raw.slice(slash + 1), NAME_RULES.qualifiedName);
  return name.ok ? ok(raw as LabelKey) : name;
}
