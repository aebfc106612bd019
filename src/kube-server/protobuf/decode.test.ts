import { Buffer } from "node:buffer";
import fc from "fast-check";
import { expect, test } from "vitest";
import { realServer } from "../rest/server.test-support.ts";
import { decodeProtobuf } from "./decode.ts";

const FALLBACK = { apiVersion: "v1", kind: "ConfigMap" };

/** An encoder for the cases below. */
const varint = (value: number | bigint): number[] => {
  const bytes: number[] = [];
  for (let rest = BigInt.asUintN(64, BigInt(value)); ; rest >>= 7n) {
    if (rest < 128n) return [...bytes, Number(rest)];
    bytes.push(Number(rest & 127n) | 128);
  }
};
const number = (field: number, value: number | bigint) => [...varint(field << 3), ...varint(value)];
const bytes = (field: number, value: readonly number[]) => [...varint((field << 3) | 2), ...varint(value.length), ...value];
const text = (field: number, value: string) => bytes(field, [...Buffer.from(value)]);
const double = (field: number, value: number) => {
  const buffer = Buffer.alloc(8);
  buffer.writeDoubleLE(value);
  return [...varint((field << 3) | 1), ...buffer];
};
const entry = (field: number, key: string, value: readonly number[]) => bytes(field, [...text(1, key), ...value]);
const envelope = (apiVersion: string, kind: string, raw: readonly number[]) =>
  Uint8Array.from([0x6b, 0x38, 0x73, 0, ...bytes(1, [...text(1, apiVersion), ...text(2, kind)]), ...bytes(2, raw)]);
const meta = (name: string) => bytes(1, text(1, name));

const cases: readonly { name: string; given: Uint8Array; want: object }[] = [
  {
    name: "maps, bytes and flags",
    given: envelope("v1", "ConfigMap", [
      ...meta("a"),
      ...entry(2, "x", text(2, "1")),
      ...entry(2, "empty", []),
      ...entry(3, "b", bytes(2, [1, 2])),
      ...number(4, 1),
    ]),
    want: { kind: "ConfigMap", metadata: { name: "a" }, data: { x: "1", empty: "" }, binaryData: { b: "AQI=" }, immutable: true },
  },
  {
    name: "lists, inline messages, and unions",
    given: envelope("v1", "Pod", [
      ...bytes(2, [
        ...bytes(1, [...text(1, "v"), ...bytes(2, bytes(2, text(1, "x")))]),
        ...bytes(2, [...text(1, "c"), ...text(3, "a"), ...text(3, "b"), ...bytes(8, entry(1, "cpu", bytes(2, text(1, "1"))))]),
      ]),
    ]),
    want: {
      spec: {
        volumes: [{ name: "v", emptyDir: { medium: "x" } }],
        containers: [{ name: "c", command: ["a", "b"], resources: { limits: { cpu: "1" } } }],
      },
    },
  },
  {
    name: "ports by number or by name",
    given: envelope(
      "v1",
      "Service",
      bytes(2, [...bytes(1, bytes(4, [...number(1, 0), ...number(2, 80)])), ...bytes(1, bytes(4, [...number(1, 1), ...text(3, "web")]))]),
    ),
    want: { spec: { ports: [{ targetPort: 80 }, { targetPort: "web" }] } },
  },
  {
    name: "times, and the zero time",
    given: envelope("coordination.k8s.io/v1", "Lease", [
      ...bytes(1, [...bytes(8, number(1, 1_767_225_600)), ...bytes(9, [])]),
      ...bytes(2, bytes(3, [...number(1, 1_767_225_600), ...number(2, 5_000)])),
    ]),
    want: {
      metadata: { creationTimestamp: "2026-01-01T00:00:00Z", deletionTimestamp: null },
      spec: { acquireTime: "2026-01-01T00:00:00.000005Z" },
    },
  },
  {
    name: "negative numbers, and unknown fields",
    given: envelope("scheduling.k8s.io/v1", "PriorityClass", [
      ...number(2, -7n),
      ...text(99, "later"),
      ...varint((98 << 3) | 5),
      1,
      2,
      3,
      4,
    ]),
    want: { value: -7 },
  },
  {
    name: "schemas with the JSON names of their fields",
    given: envelope(
      "apiextensions.k8s.io/v1",
      "CustomResourceDefinition",
      bytes(
        2,
        bytes(
          7,
          bytes(
            4,
            bytes(1, [
              ...text(5, "object"),
              ...text(3, "#/x"),
              ...number(38, 1),
              ...double(9, 1.5),
              ...bytes(8, bytes(1, [...Buffer.from('{"a":1}')])),
              ...bytes(30, number(1, 1)),
              ...bytes(27, bytes(1, text(5, "string"))),
            ]),
          ),
        ),
      ),
    ),
    want: {
      spec: {
        versions: [
          {
            schema: {
              openAPIV3Schema: {
                type: "object",
                $ref: "#/x",
                "x-kubernetes-preserve-unknown-fields": true,
                maximum: 1.5,
                default: { a: 1 },
                additionalProperties: true,
              },
            },
          },
        ],
      },
    },
  },
  {
    name: "managedFields and lists of strings in a map",
    given: envelope("authorization.k8s.io/v1", "SubjectAccessReview", [
      ...bytes(1, bytes(17, bytes(7, bytes(1, [...Buffer.from('{"f:a":{}}')])))),
      ...bytes(2, entry(5, "k", bytes(2, [...text(1, "a"), ...text(1, "b")]))),
    ]),
    want: { metadata: { managedFields: [{ fieldsV1: { "f:a": {} } }] }, spec: { extra: { k: ["a", "b"] } } },
  },
  {
    name: "options",
    given: envelope("v1", "DeleteOptions", [...number(1, 5), ...text(4, "Orphan")]),
    want: { gracePeriodSeconds: 5, propagationPolicy: "Orphan" },
  },
  { name: "an object without apiVersion and kind", given: envelope("", "", meta("a")), want: { apiVersion: "v1", kind: "ConfigMap" } },
];

test.each(cases)("$name are decoded", ({ given, want }) => {
  expect(decodeProtobuf(given, FALLBACK)).toMatchObject({ ok: true, value: want });
});

const refused: readonly { name: string; given: Uint8Array; want: string }[] = [
  { name: "JSON", given: Buffer.from("{}"), want: "provided data does not appear to be a protobuf message" },
  { name: "half a message", given: envelope("v1", "ConfigMap", bytes(1, text(1, "a")).slice(0, -1)), want: "unexpected EOF" },
  { name: "an unknown kind", given: envelope("v1", "Nope", []), want: 'no kind "Nope" is registered' },
  { name: "an unknown wire type", given: envelope("v1", "ConfigMap", [0x0f]), want: "illegal field" },
  { name: "a number for a text", given: envelope("v1", "ConfigMap", bytes(1, number(1, 5))), want: "wrong wire type" },
  { name: "a number for a message", given: envelope("v1", "ConfigMap", number(1, 5)), want: "not length-delimited" },
  { name: "a number for a map", given: envelope("v1", "ConfigMap", number(2, 5)), want: "not a message" },
  {
    name: "an endless number",
    given: envelope(
      "v1",
      "ConfigMap",
      Array.from({ length: 12 }, () => 0xff),
    ),
    want: "unexpected EOF",
  },
  { name: "a number that is cut", given: envelope("v1", "ConfigMap", [8, 0x80]), want: "unexpected EOF" },
  { name: "a double that is cut", given: envelope("v1", "ConfigMap", [9, 1]), want: "unexpected EOF" },
];

test.each(refused)("$name is an error", ({ given, want }) => {
  expect(decodeProtobuf(given, FALLBACK)).toMatchObject({ ok: false, error: expect.stringContaining(want) });
});

test("no bytes crash the decoder", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), fc.constantFrom("ConfigMap", "Pod", "Service"), (raw, kind) => {
      const read = decodeProtobuf(envelope("v1", kind, [...raw]), FALLBACK);
      expect(typeof read.ok).toBe("boolean");
    }),
  );
});

test("a client can create and delete with protobuf bodies", async () => {
  const { server } = realServer();
  const send = (method: string, path: string, body: Uint8Array) =>
    server.handle(
      {
        method,
        path,
        query: new URLSearchParams(),
        headers: { "content-type": "application/vnd.kubernetes.protobuf" },
        body,
        user: { name: "a", uid: "", groups: [] },
      },
      new AbortController().signal,
    );
  const maps = "/api/v1/namespaces/default/configmaps";
  expect(await send("POST", maps, envelope("v1", "ConfigMap", [...meta("a"), ...entry(2, "x", text(2, "1"))]))).toMatchObject({
    status: 201,
    body: { value: { data: { x: "1" } } },
  });
  expect(await send("POST", maps, Buffer.from("{}"))).toMatchObject({ status: 400 });
  expect(await send("DELETE", `${maps}/a`, Buffer.from("{}"))).toMatchObject({ status: 400 });
  expect(await send("DELETE", `${maps}/a`, envelope("v1", "DeleteOptions", text(4, "Orphan")))).toMatchObject({
    status: 200,
    body: { value: { metadata: { finalizers: ["orphan"] } } },
  });
});
