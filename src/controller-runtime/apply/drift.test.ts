import fc from "fast-check";
import { expect, test } from "vitest";
import type { Json, KubeObject } from "#kube";
import { hasDrifted } from "./drift.ts";

const base = { apiVersion: "apps/v1", kind: "Deployment" };
const object = (spec: Json, fields?: Json): KubeObject => ({
  ...base,
  metadata: {
    name: "api",
    ...(fields === undefined ? {} : { managedFields: [{ manager: "lattice", operation: "Apply", fieldsV1: { "f:spec": fields } }] }),
  },
  ...({ spec } as object),
});

type Row = { readonly name: string; readonly wanted: Json; readonly live: Json; readonly fields?: Json; readonly drifted: boolean };
const containers = { "f:containers": { 'k:{"name":"api"}': { ".": {}, "f:image": {} } } };
const ports = { "f:ports": { 'k:{"containerPort":80,"protocol":"TCP"}': { "f:containerPort": {} } } };

const rows: readonly Row[] = [
  { name: "equal objects", wanted: { a: 1 }, live: { a: 1 }, drifted: false },
  { name: "fields of other clients are ignored", wanted: { a: 1 }, live: { a: 1, b: 2 }, drifted: false },
  { name: "a changed value", wanted: { a: 1 }, live: { a: 2 }, drifted: true },
  { name: "a removed field", wanted: { a: { b: 1 } }, live: { a: {} }, drifted: true },
  { name: "another type", wanted: { a: { b: 1 } }, live: { a: [1] }, drifted: true },
  { name: "a list that was removed", wanted: { a: [1] }, live: { a: "1" }, drifted: true },
  { name: "null is absence", wanted: { a: null }, live: {}, drifted: false },
  { name: "null is not a value", wanted: { a: null }, live: { a: 1 }, drifted: true },
  { name: "a list without known merging must have the same length", wanted: { l: [1] }, live: { l: [1, 2] }, drifted: true },
  { name: "elements of a list may have defaulted fields", wanted: { l: [{ a: 1 }] }, live: { l: [{ a: 1, b: 2 }] }, drifted: false },
  { name: "the order of elements counts", wanted: { l: [1, 2] }, live: { l: [2, 1] }, drifted: true },
  {
    name: "elements of other clients in a keyed list are ignored",
    wanted: { containers: [{ name: "api", image: "a:1" }] },
    live: { containers: [{ name: "proxy" }, { name: "api", image: "a:1", imagePullPolicy: "Always" }] },
    fields: containers,
    drifted: false,
  },
  {
    name: "a changed element of a keyed list",
    wanted: { containers: [{ name: "api", image: "a:2" }] },
    live: { containers: [{ name: "api", image: "a:1" }] },
    fields: containers,
    drifted: true,
  },
  {
    name: "an element that we do not own yet",
    wanted: { containers: [{ name: "new" }] },
    live: { containers: [{ name: "api" }] },
    fields: containers,
    drifted: true,
  },
  {
    name: "an element that another client removed",
    wanted: { containers: [{ name: "api" }] },
    live: { containers: [] },
    fields: containers,
    drifted: true,
  },
  {
    name: "a key field that the server defaulted",
    wanted: { ports: [{ containerPort: 80 }] },
    live: {
      ports: [
        { containerPort: 80, protocol: "UDP" },
        { containerPort: 80, protocol: "TCP" },
      ],
    },
    fields: ports,
    drifted: false,
  },
  {
    name: "a set with values of other clients",
    wanted: { s: ["a"] },
    live: { s: ["b", "a"] },
    fields: { "f:s": { 'v:"a"': {} } },
    drifted: false,
  },
  { name: "a set without our value", wanted: { s: ["a"] }, live: { s: ["b"] }, fields: { "f:s": { 'v:"a"': {} } }, drifted: true },
  {
    name: "a key that is not JSON is no key",
    wanted: { s: [1] },
    live: { s: [1] },
    fields: { "f:s": { "k:nonsense": {} } },
    drifted: true,
  },
];

test.each(rows)("$name", ({ wanted, live, fields, drifted }) => {
  expect(hasDrifted(object(wanted), object(live, fields))).toBe(drifted);
});

test("an object never drifts from itself, nor when other clients add fields", () => {
  const json = fc.jsonValue({ maxDepth: 4 }) as fc.Arbitrary<Json>;
  fc.assert(
    fc.property(json, fc.string(), json, (spec, name, extra) => {
      expect(hasDrifted(object({ spec }), object({ spec, [`other ${name}`]: extra }))).toBe(false);
    }),
  );
});
