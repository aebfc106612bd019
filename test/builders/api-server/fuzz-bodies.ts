/** Request bodies as text: mutated objects, patches, and text that is not JSON. */
import { formatYaml, type Json, type JsonObject } from "#kube";
import { damaged, protobufBody } from "./fuzz-protobuf.ts";
import { chance, mutate, pick, type Random } from "./fuzz-values.ts";

const STRANGE: readonly [string, ...string[]] = [
  "", " ", "null", "true", "1", '"a"', "[]", "{}", "{", '{"a":', "[[[[", "}{", "NaN", "\ufeff{}", "{}{}", "--- \n---\n", "a: &a [*a]", "a: &a [1,1]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]",
  "'", "\u0000", "<xml/>", '{"__proto__":{"polluted":true}}', '{"constructor":{"prototype":{"polluted":true}}}', '{"a":1,"a":2}', "1e999", '{"metadata":{"name":"a","name":"b"}}',
  "k8s\u0000\n\u0007\n\u0002v1", "!!js/function x", "? ? ? ?", "[".repeat(20_000), '{"a":'.repeat(5_000), "- ".repeat(3_000), "a: &a\n  <<: *a\n", "<<: [{a: 1}, {__proto__: {polluted: true}}]\nkind: ConfigMap", "? {a: b}\n: c", "!!python/object/apply:os.system ['x']", "!!binary //79", "a: !!timestamp 2020-01-01\nb: !!set {c}", "%YAML 9.9\n---\na: 1",
  "&a\n".repeat(2_000), "a: *nowhere", "a: |99\n x", `a: ${"&x ".repeat(500)}`, "a: .inf\nb: -.NaN\nc: 0o17\nd: 0x\ne: 1_000\nf: ~\ng: yes", `{${'"k":1,'.repeat(20_000)}"k":1}`, `[${"0,".repeat(50_000)}0]`, '{"a":"\\ud800\\udbff"}', '{"\\u0000":"\\u0000"}',
]; // prettier-ignore

/** A billion laughs: each line repeats the one before ten times. */
const LAUGHS = Array.from({ length: 12 }, (_, at) => `l${at}: &l${at} ${at === 0 ? "lol" : `[${`*l${at - 1},`.repeat(10)}]`}`).join("\n");

const NUMBERS: readonly [string, ...string[]] = ["1e400", "-1e400", "1e-400", "-0", "0.1e+1", "9223372036854775808", "-9223372036854775809", "18446744073709551616", "9".repeat(400), `0.${"1".repeat(400)}`, "01", "+1", ".5", "1.", "0x10", "Infinity"]; // prettier-ignore

const DIRECTIVES: readonly [JsonObject, ...JsonObject[]] = [
  { spec: { $setElementOrder: [] } },
  { spec: { template: { spec: { containers: [{ name: "b", image: "j" }], "$setElementOrder/containers": [{ name: "b" }, { name: "a" }] } } } },
  { spec: { template: { spec: { containers: [{ $patch: "replace" }, { name: "z", image: "z" }] } } } },
  { metadata: { finalizers: ["f.test/a"], "$deleteFromPrimitiveList/finalizers": ["f.test/a"] } },
  { metadata: { finalizers: null, labels: { $retainKeys: ["app"] } } },
  { spec: { strategy: { $retainKeys: ["type"], type: "Recreate" } } },
  { $patch: "delete" },
  { data: { a: null, z: "9" } },
]; // prettier-ignore

export function bodyText(random: Random, object: JsonObject, contentType: string): string {
  if (chance(random, 0.08)) return chance(random, 0.02) ? LAUGHS : pick(random, STRANGE);
  const value =
    contentType.includes("json-patch") && !contentType.includes("merge")
      ? operations(random, object)
      : changed(random, object, contentType);
  const text = contentType.includes("yaml") && chance(random, 0.3) ? formatYaml(object) : JSON.stringify(value);
  if (chance(random, 0.06)) return text.slice(0, Math.floor(random() * text.length));
  if (chance(random, 0.04))
    return text.replaceAll(/(?<=[:[,])-?\d[\d.e+]*/g, (number) => (chance(random, 0.3) ? pick(random, NUMBERS) : number));
  return chance(random, 0.04) ? text.replaceAll(/[:,]/g, (mark) => (chance(random, 0.1) ? "" : mark)) : text;
}

function changed(random: Random, object: JsonObject, contentType: string): Json {
  if (contentType.includes("strategic") && chance(random, 0.5)) return mutate(random, pick(random, DIRECTIVES));
  return chance(random, 0.5) ? object : mutate(random, object);
}

/** Input for a protobuf or CBOR decoder: a valid prefix with random bytes after it, wrong lengths, and noise. */
export function binaryBody(random: Random, object: JsonObject): string {
  if (chance(random, 0.6)) return protobufBody(random, object).toString("latin1");
  const noise = Array.from({ length: Math.floor(random() * random() * 400) }, () => String.fromCharCode(Math.floor(random() * 256))).join(
    "",
  );
  const length = String.fromCharCode(pick(random, [0, 1, 5, 10, 127, 128, 255]));
  return pick(random, [
    noise,
    `k8s\u0000${noise}`,
    `k8s\u0000\n${length}${noise}`,
    `k8s\u0000\n\u000e\n\u0002v1\u0012\u0008ConfigMap\u0012${length}${noise}`,
    `k8s\u0000\n\u0013\n\u0002v1\u0012\u000dDeleteOptions\u0012${length}${noise}`,
    `\u00d9\u00d9\u00f7${noise}`,
    `\u00bf${"\u009f".repeat(3_000)}`,
    `\u009b\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff\u00ff${noise}`,
    JSON.stringify(object),
  ]);
}

/** The same text with bytes that are not valid UTF-8. */
export function damagedText(random: Random, text: string): string {
  return damaged(random, Buffer.from(text, "utf8")).toString("latin1");
}

const PATHS: readonly [string, ...string[]] = ["", "/", "/metadata", "/metadata/labels/app", "/metadata/finalizers/-", "/spec/replicas", "/data/a", "/spec/template/spec/containers/0/image", "/__proto__/polluted", "/constructor/prototype/polluted", "/metadata/finalizers/-1", "/metadata/finalizers/99999999", "/a~2b", "no-slash", "/metadata/name", "/kind", "/spec/template/spec/containers/00"]; // prettier-ignore

function operations(random: Random, object: JsonObject): Json {
  const operation = (): Json => ({
    op: pick(random, ["add", "remove", "replace", "move", "copy", "test", "nonsense"]),
    path: pick(random, PATHS),
    from: pick(random, PATHS),
    value: chance(random, 0.5) ? mutate(random, object) : "v",
  });
  const all = Array.from({ length: 1 + Math.floor(random() * 4) }, operation);
  return chance(random, 0.3) ? mutate(random, all) : all;
}
