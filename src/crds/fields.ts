/**
 * The scalars of the kinds: names, text, numbers, durations, quantities, addresses. One builder each, so that a duration has
 * the same rules and messages everywhere.
 *
 * Messages never repeat the value of a free-form string: a password in a wrong field must not reach a log.
 */
import * as z from "zod";
import { DURATION_PATTERN } from "#base";
import { NAME_RULES, QUANTITY_PATTERN, type DnsLabel, type NamespaceName } from "#kube";
import { isCidr } from "./addresses.ts";
import { described } from "./described.ts";
import { withRules } from "./rules.ts";

export function text(description: string, max: number) {
  return described(z.string().check(z.minLength(1), z.maxLength(max)), description);
}

/** Text of any characters that may be empty, such as a template or an argument. */
export function anyText(description: string, max: number) {
  return described(z.string().check(z.maxLength(max)), description);
}

export function patterned(description: string, rule: { readonly pattern: string; readonly max: number; readonly message: string }) {
  return described(z.string().check(z.maxLength(rule.max), z.regex(new RegExp(rule.pattern), { error: rule.message })), description);
}

function nameAs(description: string, rule: { what: string; pattern: string; max: number; advice: string }) {
  return patterned(description, { pattern: rule.pattern, max: rule.max, message: `must be ${rule.what}: ${rule.advice}` });
}

export const dnsLabel = (description: string) => nameAs(description, NAME_RULES.dnsLabel);
export const dnsSubdomain = (description: string) => nameAs(description, NAME_RULES.dnsSubdomain);
export const serviceName = (description: string) => nameAs(description, NAME_RULES.serviceName);
export const labelValue = (description: string) => nameAs(description, NAME_RULES.labelValue);

/** The schema validates the label, so its output has the brand. */
export function clusterName(description: string): z.ZodType<DnsLabel, string> {
  return dnsLabel(description) as unknown as z.ZodType<DnsLabel, string>;
}

export function namespaceName(description: string): z.ZodType<NamespaceName, string> {
  return dnsLabel(description) as unknown as z.ZodType<NamespaceName, string>;
}

/** Namespaces of the cluster itself: Lattice creates neither workloads nor a default-deny policy in them. */
const SYSTEM_NAMESPACES = ["kube-system", "cilium-system", "istio-system", "istio-ingress", "lattice-system", "cert-manager"];

export function isSystemNamespace(name: string): boolean {
  return SYSTEM_NAMESPACES.includes(name) || name.startsWith("capi-") || (name.startsWith("cap") && name.endsWith("-system"));
}

/** The same in CEL, for any string expression. */
export function celIsSystemNamespace(name: string): string {
  const list = SYSTEM_NAMESPACES.map((item) => `'${item}'`).join(", ");
  return `(${name} in [${list}] || ${name}.startsWith('capi-') || (${name}.startsWith('cap') && ${name}.endsWith('-system')))`;
}

export const SYSTEM_NAMESPACE_MESSAGE = "must not be a system namespace, such as kube-system or capi-*: Lattice does not touch those";

export function targetNamespace(description: string): z.ZodType<NamespaceName, string> {
  return withRules(namespaceName(description), [
    { cel: `!${celIsSystemNamespace("self")}`, message: SYSTEM_NAMESPACE_MESSAGE, holds: (name) => !isSystemNamespace(name) },
  ]);
}

export function integer(description: string, min: number, max: number) {
  return described(z.int().check(z.gte(min), z.lte(max)), description);
}

export const portNumber = (description: string) => integer(description, 1, 65_535);

export function flag(description: string) {
  return described(z.boolean(), description);
}

export function oneOf<const Values extends readonly [string, ...string[]]>(description: string, values: Values) {
  return described(z.enum(values), description);
}

export function duration(description: string) {
  const message = 'must be a duration, such as "30s", "5m" or "1h30m"';
  return patterned(description, { pattern: DURATION_PATTERN, max: 64, message });
}

/**
 * A number or a string. `x-kubernetes-int-or-string` replaces the type in the CRD, so the limits are repeated as metadata:
 * minimum and maximum for numbers, the pattern for strings.
 */
function numberOrText(description: string, rule: { min: number; max: number; pattern: string; message: string }) {
  const number = z.int().check(z.gte(rule.min), z.lte(rule.max));
  const string = z.string().check(z.maxLength(64), z.regex(new RegExp(rule.pattern), { error: rule.message }));
  return described(z.union([number, string], { error: rule.message }), {
    description,
    "x-kubernetes-int-or-string": true,
    minimum: rule.min,
    maximum: rule.max,
    pattern: rule.pattern,
    maxLength: 64,
  });
}

export function quantity(description: string) {
  const message = 'must be a quantity, such as "500m", 2 or "1.5Gi"';
  return numberOrText(description, { min: 0, max: Number.MAX_SAFE_INTEGER, pattern: QUANTITY_PATTERN.replace("[+-]?", "[+]?"), message });
}

export function countOrPercent(description: string) {
  return numberOrText(description, {
    min: 0,
    max: 10_000,
    pattern: "^[0-9]{1,3}%$",
    message: 'must be a number or a percentage, such as 1 or "25%"',
  });
}

export function portNumberOrName(description: string) {
  const message = "must be a port between 1 and 65535, or the name of one";
  return numberOrText(description, { min: 1, max: 65_535, pattern: "^[a-z0-9-]*[a-z][a-z0-9-]*$", message });
}

export function cidr(description: string) {
  return withRules(text(description, 43), [
    { cel: "isCIDR(self)", message: 'must be a network, such as "10.0.0.0/16" or "fd00::/64"', holds: isCidr },
  ]);
}

const HOST = "^([A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?|[0-9A-Fa-f:]+)$";

/** A DNS name or an IP address, without a port. */
export function host(description: string) {
  return patterned(description, { pattern: HOST, max: 253, message: "must be a DNS name or an IP address, without scheme and port" });
}

/** RFC 3339. The API server checks `format: date-time`; the pattern here rejects the same values. */
export function timestampField(description: string) {
  const rfc3339 = z.superRefine<string>((value, context) => {
    if (!/^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(\.\d+)?([Zz]|[+-]\d{2}:\d{2})$/.test(value)) {
      context.addIssue({ code: "custom", message: 'must be a time as RFC 3339 writes it, such as "2026-01-31T12:00:00Z"' });
    }
  });
  return described(z.string().check(z.maxLength(64), rfc3339), { description, format: "date-time" });
}
