/**
 * Well-formed but hostile definitions and policies: patterns that backtrack exponentially in many engines, expressions of unbounded cost, names
 * of Object.prototype, defaults and columns that contradict their schema.
 */
import type { Json, JsonObject } from "#kube";
import { chance, pick, type Random } from "./fuzz-values.ts";

type Some<T> = readonly [T, ...T[]];

const PATTERNS: Some<string> = [
  "^(a+)+$", "(a|aa)*b$", "(.*)*x", "^(([a-z])+.)+[A-Z]([a-z])+$", "(x{0,1000}){2}", "((a{1,100}){1,10})$", "(".repeat(2_000) + ")".repeat(2_000), "(?=a)", "(?<n>a)\\k<n>",
  "[", "\\p{Greek}+", "[[:alpha:]]*", "(?i)É", "(a?){500}a{500}", "\\Q.*", "^\\pN{3,900}$", "(?:(?:(?:a*)*)*)*$", "a{2,1}", "x*".repeat(400), "\u0000", "\\C",
]; // prettier-ignore

/** Cost grows tenfold with every level: it must be estimated, not measured. */
function nested(depth: number): string {
  return depth === 0 ? "true" : `[1,2,3,4,5,6,7,8,9,10].all(x${depth}, ${nested(depth - 1)})`;
}

const quoted = (text: string): string => JSON.stringify(text);

const EXPRESSIONS: Some<string> = [
  "true", ...PATTERNS.map((pattern) => `${quoted(`${"a".repeat(500)}!`)}.matches(${quoted(pattern)})`),
  "self.s.matches(self.s)", "object.metadata.name.matches('^(a+)+$')", nested(3), nested(7), nested(30),
  "object.metadata.annotations.all(k, object.metadata.annotations.all(l, object.metadata.annotations.exists(m, m == k + l)))",
  "'x'.replace('', 'y').replace('', 'y').replace('', 'y').replace('', 'y').size() > 0", "'a,b'.split('').map(x, 'a,b'.split('')).size() > 1",
  "'%.999999999f'.format([1.5]) == ''", "'%.100000e'.format([1.5e308]) != ''", "'%s%s'.format([object, object]) != ''", "'%'.format([]) == ''", "'%d'.format(['x']) == ''",
  "1 / 0 == 1", "1 % 0 == 1", "9223372036854775807 + 1 > 0", "-9223372036854775808 / -1 > 0", "[][0] == 1", "{}['__proto__'] == 1", "object.__proto__ == null", "object['__proto__'] == null",
  "dyn(object).constructor.prototype == null", "self.__proto__ == 1", "self == self", "oldSelf == self", "has(object.spec.constructor)", "object.metadata.labels['constructor'] == ''",
  "duration('999999999999999h') > duration('0s')", "timestamp('9999-12-31T23:59:59Z') + duration('1000000h') > timestamp(0)", "int('9223372036854775808') > 0", "double('1e999') > 0.0", "uint(-1) > 0u",
  "quantity('1e999999').isGreaterThan(quantity('0'))", "quantity('99999999999999999999Ei').asInteger() > 0", "ip('::ffff:1.2.3.4').family() == 4", "cidr('0.0.0.0/99').prefixLength() == 1", "url('http://[').getHost() == ''",
  "semver('1.0.0-' + self.s).major() == 1", "b'\\xff\\xfe' == b''", "string(b'\\xff') == ''", "'\\ud800' == ''", "'\u0000' == object.metadata.name", "sets.contains([1], [])", "[[[[[[]]]]]].size() == 1",
  "(".repeat(3_000), `${"!".repeat(5_001)}true`, `${"-".repeat(5_001)}1 == 1`, `${"1 + ".repeat(5_000)}1 > 0`, `object${".a".repeat(5_000)} == 1`, `${"true ? ".repeat(1_000)}true${" : false".repeat(1_000)}`,
  `[${"1,".repeat(20_000)}1].size() > 1`, `{${"'a':{".repeat(500)}${"}".repeat(500)}}`, "authorizer.path('/' + string(object)).check('get').allowed()", "variables.n > variables.n", "params.data.all(k, params.data[k] == k)",
  "namespaceObject.metadata.name == 'default'", "request.userInfo.extra['__proto__'] == []", "object.?spec.?__proto__.orValue(1) == 1", "cel.bind(x, [1,2,3], x.map(y, x.map(z, x))).size() > 0", "// nothing", "", " ", "\u0000", "object", "'true'", "null",
]; // prettier-ignore

const MUTATIONS: Some<string> = [
  "Object{metadata: Object.metadata{labels: {'__proto__': 'x', 'constructor': 'y'}}}", "Object{__proto__: Object{}}", "Object{constructor: 1}", "Object{metadata: Object.metadata{name: 'other', uid: 'x', namespace: 'b'}}",
  "Object{data: object.data.map(k, k)}", "Object{spec: dyn(object).spec}", "Object{metadata: Object.metadata{labels: object.metadata.labels}}", "object", "null", "Object{}",
]; // prettier-ignore
const PATCHES: Some<string> = [
  "[JSONPatch{op: 'add', path: '/__proto__/polluted', value: 'x'}]", "[JSONPatch{op: 'add', path: '/constructor/prototype/polluted', value: true}]", "[JSONPatch{op: 'add', path: '/metadata/labels/' + jsonpatch.escapeKey('__proto__'), value: 'x'}]",
  "[JSONPatch{op: 'remove', path: ''}]", "[JSONPatch{op: 'replace', path: '', value: 1}]", "[JSONPatch{op: 'copy', from: '', path: '/metadata/annotations/a'}]", "[JSONPatch{op: 'move', from: '/metadata', path: '/metadata/x'}]",
  "[1,2,3,4,5].map(x, JSONPatch{op: 'copy', from: '/data', path: '/data/' + string(x), value: object})", "[]", "[JSONPatch{}]", "[JSONPatch{op: 'add', path: '/metadata/finalizers/-1', value: Object{}}]",
]; // prettier-ignore

function schema(random: Random): JsonObject {
  const rules = Array.from({ length: 1 + Math.floor(random() * 3) }, () => ({
    rule: pick(random, EXPRESSIONS),
    messageExpression: pick(random, EXPRESSIONS),
  }));
  const value: readonly [JsonObject, ...JsonObject[]] = [
    { type: "string", pattern: pick(random, PATTERNS) },
    { type: "string", maxLength: 20, pattern: pick(random, PATTERNS), "x-kubernetes-validations": rules },
    { type: "integer", multipleOf: 0, minimum: 1e308, maximum: -1e308, enum: [1, "1", null, {}] },
    { type: "number", multipleOf: 1e-320, default: 2 ** 63 },
    { type: "object", additionalProperties: { type: "string", pattern: pick(random, PATTERNS) }, default: { ["__proto__"]: "x", a: 1 } },
    { type: "object", properties: { ["__proto__"]: { type: "string", default: "polluted" }, constructor: { type: "object", properties: { prototype: { type: "object", default: { polluted: true } } }, default: {} } }, default: {} },
    { type: "array", maxItems: 1e9, items: { type: "object", required: ["__proto__"] }, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["__proto__"] },
    { type: "array", "x-kubernetes-list-type": "set", items: { type: "array", items: { type: "object" } } },
    { "x-kubernetes-int-or-string": true, "x-kubernetes-preserve-unknown-fields": true, nullable: true, default: null },
    { type: "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true, default: { apiVersion: "v1", kind: "Pod", metadata: { name: "../.." } } },
    { type: "string", format: pick(random, ["date-time", "byte", "ipv4", "cidr", "uuid", "duration", "nonsense", "email", "__proto__"]) },
    { not: {}, allOf: [{ not: { anyOf: [{}] } }], oneOf: [{}, {}], type: "string" },
    deepSchema(Math.floor(random() * 300)),
  ]; // prettier-ignore
  return { type: "object", properties: { s: pick(random, value), n: { type: "integer", default: 3 } }, "x-kubernetes-validations": rules };
}

function deepSchema(depth: number): JsonObject {
  let value: JsonObject = { type: "string" };
  for (let at = 0; at < depth; at += 1)
    value = at % 2 === 0 ? { type: "array", items: value } : { type: "object", properties: { s: value } };
  return value;
}

function definition(random: Random): JsonObject {
  const column = { name: "S", type: pick(random, ["string", "date", "number", "nonsense"]), jsonPath: pick(random, [".spec.s", ".metadata.__proto__", ".spec[?(@.s=='a')].x", "..", ".a".repeat(3_000), ".spec.s[*]", "[", ".metadata.annotations['a']"]) }; // prettier-ignore
  const version = {
    name: "v1",
    served: true,
    storage: true,
    schema: { openAPIV3Schema: { type: "object", properties: { spec: schema(random), status: { type: "object" } } } },
    additionalPrinterColumns: [column, column],
    selectableFields: [{ jsonPath: pick(random, [".spec.s", ".spec.__proto__", ".spec.n", "x"]) }],
    subresources: { status: {}, scale: { specReplicasPath: pick(random, [".spec.n", ".spec.s", ".spec.__proto__"]), statusReplicasPath: ".status.n" } },
  }; // prettier-ignore
  const kept: JsonObject = chance(random, 0.5) ? version : { ...version, selectableFields: [], additionalPrinterColumns: [] };
  return { spec: { group: "fuzz.test", scope: "Namespaced", names: { plural: "gears", kind: "Gear" }, versions: [kept] } };
}

const constraints = { resourceRules: [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["configmaps", "gears"] }] };

function validatingPolicy(random: Random): JsonObject {
  const expression = () => pick(random, EXPRESSIONS);
  const doubling = Array.from({ length: 40 }, (_, at) => ({ name: `v${at}`, expression: at === 0 ? "'xxxxxxxx'" : `variables.v${at - 1} + variables.v${at - 1}` })); // prettier-ignore
  const validation = { expression: expression(), messageExpression: expression() };
  return {
    spec: {
      matchConstraints: constraints,
      failurePolicy: pick(random, ["Fail", "Ignore"]),
      matchConditions: [{ name: "m", expression: expression() }],
      variables: chance(random, 0.3) ? doubling : [{ name: "n", expression: expression() }],
      validations: chance(random, 0.3) ? [{ expression: "variables.v39.size() > 0" }] : [validation],
      auditAnnotations: [{ key: "__proto__", valueExpression: expression() }],
    },
  };
}

function mutatingPolicy(random: Random): JsonObject {
  const apply = { patchType: "ApplyConfiguration", applyConfiguration: { expression: pick(random, MUTATIONS) } };
  const patch = { patchType: "JSONPatch", jsonPatch: { expression: pick(random, PATCHES) } };
  return {
    spec: {
      matchConstraints: constraints,
      failurePolicy: "Ignore",
      reinvocationPolicy: "IfNeeded",
      mutations: [chance(random, 0.5) ? apply : patch, patch],
    },
  };
}

const GEAR_TEXTS: Some<Json> = [`${"a".repeat(5_000)}!`, "a".repeat(100_000), "aaaa", { ["__proto__"]: { polluted: true } }, [["a"]], "1.0.0", "2020-02-30T25:00:00Z", 2 ** 53, { constructor: { prototype: { polluted: 1 } } }]; // prettier-ignore

const MAKERS: ReadonlyMap<string, (random: Random) => JsonObject> = new Map([
  ["customresourcedefinitions", definition],
  ["validatingadmissionpolicies", validatingPolicy],
  ["mutatingadmissionpolicies", mutatingPolicy],
  ["gears", (random: Random): JsonObject => ({ spec: { s: pick(random, GEAR_TEXTS), n: pick(random, [1, 3, 1e308, -1]) } })],
]);

/** The same object with a hostile spec, if there is one for its kind. */
export function hostile(random: Random, plural: string, object: JsonObject): JsonObject {
  const make = MAKERS.get(plural);
  return make === undefined ? object : { ...object, ...make(random) };
}
