/** Quantities, versions and named formats. */
import {
  asPrefix,
  dns1035LabelProblems,
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelValueProblems,
  parseQuantity,
  qualifiedNameProblems,
  type Quantity,
} from "#kube";
import { matchesFormat } from "../formats/string-formats.ts";
import { parseUrl } from "../formats/go-net.ts";
import { declare, type Declarations, type Evaluate } from "../declarations.ts";
import { INT64 } from "../literals.ts";
import { CelOpaque, CelOptional, failure, listOf, NO_SUCH_OVERLOAD, NONE, type CelValue } from "../values.ts";
import { compareVersions, parseLooseVersion, parseVersion, type SemanticVersion } from "../semantic-version.ts";

const NANO = 1_000_000_000n;
const BAD_QUANTITY = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";

function quantityOf(value: CelValue): bigint | undefined {
  return value instanceof CelOpaque && value.content.of === "quantity" ? value.content.nanos : undefined;
}

function versionOf(value: CelValue): SemanticVersion | undefined {
  return value instanceof CelOpaque && value.content.of === "semver" ? value.content.version : undefined;
}

function quantity(nanos: bigint, text = ""): CelOpaque {
  return new CelOpaque({ of: "quantity", nanos, text });
}

function readQuantity(text: CelValue): Quantity | undefined {
  const parsed = typeof text === "string" ? parseQuantity(text) : undefined;
  return parsed?.ok === true ? parsed.value : undefined;
}

function toQuantity(text: CelValue): CelValue {
  const nanos = readQuantity(text);
  return nanos === undefined || typeof text !== "string" ? failure(BAD_QUANTITY) : quantity(nanos, text);
}

function onQuantity(run: (nanos: bigint, other: bigint) => CelValue): Evaluate {
  return (value = null, other = 0n) => {
    const nanos = quantityOf(value);
    const second = typeof other === "bigint" ? other * NANO : quantityOf(other);
    return nanos === undefined || second === undefined ? NO_SUCH_OVERLOAD : run(nanos, second);
  };
}

function wholeOf(nanos: bigint): bigint | undefined {
  const whole = nanos / NANO;
  return nanos % NANO === 0n && whole >= INT64.min && whole <= INT64.max ? whole : undefined;
}

function onVersions(run: (order: number) => CelValue): Evaluate {
  return (a = null, b = null) => {
    const [left, right] = [versionOf(a), versionOf(b)];
    return left === undefined || right === undefined ? NO_SUCH_OVERLOAD : run(compareVersions(left, right));
  };
}

function readVersion(text: CelValue, loose: CelValue): ReturnType<typeof parseVersion> | undefined {
  return typeof text === "string" ? (loose === true ? parseLooseVersion(text) : parseVersion(text)) : undefined;
}

function semver(text: CelValue, loose: CelValue): CelValue {
  const version = readVersion(text, loose);
  if (version === undefined) return NO_SUCH_OVERLOAD;
  return version.ok ? new CelOpaque({ of: "semver", version: version.value }) : failure(version.error);
}

function partOfVersion(name: "major" | "minor" | "patch"): Evaluate {
  return (value = null) => versionOf(value)?.[name] ?? NO_SUCH_OVERLOAD;
}

type Problems = (text: string) => readonly string[];

function known(format: string, problem: string): Problems {
  return (text) => (matchesFormat(format, text) ? [] : [problem]);
}

const FORMATS: ReadonlyMap<string, Problems> = new Map<string, Problems>([
  ["dns1123Label", dnsLabelProblems],
  ["dns1123Subdomain", dnsSubdomainProblems],
  ["dns1035Label", dns1035LabelProblems],
  ["qualifiedName", qualifiedNameProblems],
  ["dns1123LabelPrefix", (text) => dnsLabelProblems(asPrefix(text))],
  ["dns1123SubdomainPrefix", (text) => dnsSubdomainProblems(asPrefix(text))],
  ["dns1035LabelPrefix", (text) => dns1035LabelProblems(asPrefix(text))],
  ["labelValue", labelValueProblems],
  [
    "uri",
    (text) => {
      const url = parseUrl(text, "request");
      return url.ok ? [] : [url.error];
    },
  ],
  ["uuid", known("uuid", "does not match the UUID format")],
  ["byte", known("byte", "invalid base64")],
  ["date", known("date", "invalid date")],
  ["datetime", known("datetime", "invalid datetime")],
]);

function namedFormat(name: string): CelValue {
  return new CelOpaque({ of: "format", name });
}

function validateFormat(format: CelValue, text: CelValue): CelValue {
  if (!(format instanceof CelOpaque) || format.content.of !== "format" || typeof text !== "string") return NO_SUCH_OVERLOAD;
  const problems = FORMATS.get(format.content.name)?.(text) ?? [];
  return problems.length === 0 ? NONE : new CelOptional(listOf(problems));
}

export function kubernetesValues(): Declarations {
  const sum = onQuantity((a, b) => quantity(a + b));
  const difference = onQuantity((a, b) => quantity(a - b));
  return declare([
    ["string_to_quantity", "quantity(string) -> Quantity", (text = null) => toQuantity(text)],
    ["is_quantity_string", "isQuantity(string) -> bool", (text = null) => readQuantity(text) !== undefined],
    ["quantity_sign", "sign(Quantity) -> int", onQuantity((nanos) => (nanos < 0n ? -1n : nanos > 0n ? 1n : 0n))],
    ["quantity_is_greater_than", "<Quantity> isGreaterThan(Quantity) -> bool", onQuantity((a, b) => a > b)],
    ["quantity_is_less_than", "<Quantity> isLessThan(Quantity) -> bool", onQuantity((a, b) => a < b)],
    ["quantity_compare_to", "<Quantity> compareTo(Quantity) -> int", onQuantity((a, b) => (a < b ? -1n : a > b ? 1n : 0n))],
    ["quantity_get_float", "<Quantity> asApproximateFloat() -> double", onQuantity((nanos) => Number(nanos) / Number(NANO))],
    [
      "quantity_get_int",
      "<Quantity> asInteger() -> int",
      onQuantity((nanos) => wholeOf(nanos) ?? failure("cannot convert value to integer")),
    ],
    ["quantity_is_integer", "<Quantity> isInteger() -> bool", onQuantity((nanos) => wholeOf(nanos) !== undefined)],
    ["quantity_add", "<Quantity> add(Quantity) -> Quantity", sum],
    ["quantity_add_int", "<Quantity> add(int) -> Quantity", sum],
    ["quantity_sub", "<Quantity> sub(Quantity) -> Quantity", difference],
    ["quantity_sub_int", "<Quantity> sub(int) -> Quantity", difference],
    ["string_to_semver", "semver(string) -> Semver", (text = null) => semver(text, false)],
    ["string_bool_to_semver", "semver(string, bool) -> Semver", (text = null, loose = null) => semver(text, loose)],
    ["is_semver_string", "isSemver(string) -> bool", (text = null) => readVersion(text, false)?.ok ?? NO_SUCH_OVERLOAD],
    [
      "is_semver_string_bool",
      "isSemver(string, bool) -> bool",
      (text = null, loose = null) => readVersion(text, loose)?.ok ?? NO_SUCH_OVERLOAD,
    ],
    ["semver_is_greater_than", "<Semver> isGreaterThan(Semver) -> bool", onVersions((order) => order > 0)],
    ["semver_is_less_than", "<Semver> isLessThan(Semver) -> bool", onVersions((order) => order < 0)],
    ["semver_compare_to", "<Semver> compareTo(Semver) -> int", onVersions((order) => BigInt(order))],
    ["semver_major", "<Semver> major() -> int", partOfVersion("major")],
    ["semver_minor", "<Semver> minor() -> int", partOfVersion("minor")],
    ["semver_patch", "<Semver> patch() -> int", partOfVersion("patch")],
    [
      "format-named",
      "format.named(string) -> optional(Format)",
      (name = null) => (typeof name === "string" && FORMATS.has(name) ? new CelOptional(namedFormat(name)) : NONE),
    ],
    [
      "format-validate",
      "<Format> validate(string) -> optional(list(string))",
      (format = null, text = null) => validateFormat(format, text),
    ],
    ...[...FORMATS.keys()].map((name): [string, string, Evaluate] => [
      `format.${name}`,
      `format.${name}() -> Format`,
      () => namedFormat(name),
    ]),
  ]);
}
