import fc from "fast-check";
import { expect, test } from "vitest";
import { checkClosely } from "./schema.ts";
import { isSoundScore } from "./sound-score.ts";

const container = {
  image: "nginx:1.29",
  command: ["sh"],
  args: ["-c"],
  variables: { A: "b" },
  files: { "/a": { mode: "0644", content: "x", noExpand: true }, "/b": { binaryContent: "eA==" }, "/c": { source: "./c" } },
  volumes: { "/data": { source: "data", path: "sub", readOnly: true } },
  before: { other: { ready: "started" } },
  resources: { limits: { cpu: "1.5", memory: "1Gi" }, requests: { cpu: "100m" } },
  livenessProbe: { httpGet: { path: "/", port: 80, scheme: "HTTP", host: "a", httpHeaders: [{ name: "a", value: "b" }] } },
  readinessProbe: { exec: { command: ["true"] } },
};
const whole = {
  apiVersion: "score.dev/v1b1",
  metadata: { name: "web-1", annotations: { a: "b" }, more: { of: "it" } },
  service: { ports: { web: { port: 80, protocol: "TCP", targetPort: 8080 } } },
  containers: { main: container, other: { image: "." } },
  resources: {
    db: { type: "postgres", class: "large", id: "shared.db", metadata: { annotations: { a: "b" }, x: 1 }, params: { a: [1, null] } },
  },
};

test("a file with every field of Score is valid", () => {
  expect(isSoundScore(whole)).toBe(true);
  expect(isSoundScore({ apiVersion: whole.apiVersion, metadata: { name: "ab" }, containers: { main: { image: "." } } })).toBe(true);
});

test("after random changes the fast check and the schema agree, and a valid file is not changed", () => {
  const values: unknown[] = ["", "a", "ab", "a-", "HTTP", "0644", "1Gi", "1.5", 0, 1, 80, 65_536, 1.5, true, null, [], ["a"], [1], {}, { a: "b" }, { a: 1 }, { name: "a" }, "x".repeat(64)]; // prettier-ignore
  const names = ["a", "ab", "A", "name", "image", "port", "ready", "httpGet", "exec", "type", "source", "__proto__", "x".repeat(64), ""];
  const change = fc.record({
    at: fc.array(fc.nat(20), { maxLength: 6 }),
    how: fc.constantFrom("set", "add", "remove"),
    value: fc.constantFrom(...values),
    name: fc.constantFrom(...names),
  });
  let sound = 0;
  const both = (value: unknown) => {
    const closely = checkClosely(value);
    const plain = !JSON.stringify(value).includes("__proto__"); // zod drops this key
    const quickly = isSoundScore(value);
    if (quickly || plain) expect({ value, quickly }).toEqual({ value, quickly: "workload" in closely });
    if (quickly) expect(closely).toEqual({ workload: value });
    if (quickly) sound += 1;
  };
  fc.assert(
    fc.property(fc.array(change, { minLength: 1, maxLength: 2 }), (changes) => {
      const value = structuredClone(whole) as unknown;
      for (const { at, how, value: inner, name } of changes) apply(value, at, { how, inner: structuredClone(inner), name });
      both(value);
    }),
    { numRuns: 3_000 },
  );
  expect(sound).toBeGreaterThan(100);
});

type Change = { readonly how: string; readonly inner: unknown; readonly name: string };

/** Follows the steps into the value, and changes the field at their end. */
function apply(value: unknown, at: readonly number[], { how, inner, name }: Change): void {
  let place = value as Record<string, unknown>;
  for (const step of at) {
    const keys = Object.keys(place);
    const next = place[keys[step % Math.max(1, keys.length)] ?? ""];
    if (typeof next !== "object" || next === null) break;
    place = next as Record<string, unknown>;
  }
  if (Array.isArray(place)) return void (how === "add" ? place.push(inner) : place.pop());
  const keys = Object.keys(place);
  const key = how === "add" ? name : (keys[(at[0] ?? 0) % Math.max(1, keys.length)] ?? name);
  if (how === "remove") delete place[key];
  else Object.defineProperty(place, key, { value: inner, enumerable: true, configurable: true, writable: true });
}
