/**
 * The patch of a webhook on an update. The result is decoded with the stored object, whose unchanged parts are used as they are; it must be what
 * decoding without it gives.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { field, fieldAt, type Json, type JsonObject, type KubeObject } from "#kube";
import { realServer } from "../../rest/server.test-support.ts";
import { hooksOf } from "./hook.ts";
import { patchObject } from "./patch-object.ts";

const { server } = realServer();
const { types } = server;
const type = types.find("apps", "v1", "deployments");
if (type === undefined) throw new Error("there are Deployments");
const [hook] = hooksOf({
  apiVersion: "admissionregistration.k8s.io/v1",
  kind: "MutatingWebhookConfiguration",
  metadata: { name: "a" },
  webhooks: [{ name: "a.lattice.test" }],
} as unknown as KubeObject);
if (hook === undefined) throw new Error("there is a hook");
const invocation = { hook, type, matched: { kind: type.resource, resource: type.resource } };

const container = (name: string, more: JsonObject = {}): JsonObject => ({ name, image: "i:1", env: [{ name: "A", value: "1" }], ...more });
const labels = { app: "web" };

function deployment(containers: readonly JsonObject[]): KubeObject {
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers } } };
  const given = { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "web", namespace: "default" }, spec };
  return type?.applyDefaults(expectOk(type.decode(given as Json, undefined)).object, undefined) as KubeObject;
}

const stored = deployment([container("main"), container("proxy")]);

function patched(
  operations: readonly Json[],
  { object = stored, old }: { readonly object?: KubeObject; readonly old?: KubeObject | undefined },
) {
  const answer = { allowed: true, patch: JSON.stringify(operations), patchType: "JSONPatch", status: undefined, warnings: [] };
  return patchObject(answer, invocation, { object, old, types });
}

const POD = "/spec/template/spec";
const add = (path: string, value: Json): JsonObject => ({ op: "add", path, value });

describe("a patch on an update", () => {
  const rows: readonly {
    readonly name: string;
    readonly operations: readonly JsonObject[];
    readonly at: readonly [number, string];
    readonly want: Json;
  }[] = [
    {
      name: "gives a new container its defaults",
      operations: [add(`${POD}/containers/-`, container("more"))],
      at: [2, "imagePullPolicy"],
      want: "IfNotPresent",
    },
    {
      name: "gives a field that it removes its default again",
      operations: [{ op: "remove", path: `${POD}/containers/0/terminationMessagePath` }],
      at: [0, "terminationMessagePath"],
      want: "/dev/termination-log",
    },
    {
      name: "drops a field that the kind does not have",
      operations: [add(`${POD}/containers/1/nope`, true), add(`${POD}/containers/1/tty`, true)],
      at: [1, "nope"],
      want: null,
    },
  ];
  test.each(rows)("$name", ({ operations, at, want }) => {
    const result = expectOk(patched(operations, { old: stored }));
    const [index, name] = at;
    const containers = fieldAt(result?.object, "spec", "template", "spec", "containers");
    expect(field(Array.isArray(containers) ? containers[index] : undefined, name) ?? null).toEqual(want);
    expect(result?.changed).toBe(name !== "terminationMessagePath");
  });

  test("is refused for a value of another type, also where the stored object has an equal part elsewhere", () => {
    for (const value of ["text", [], { name: 5 }]) {
      const refused = patched([{ op: "replace", path: `${POD}/containers/0`, value }], { old: stored });
      expect(refused).toMatchObject({ ok: false, error: { kind: "refused", failure: { code: 500 } } });
      expect(refused).toEqual(patched([{ op: "replace", path: `${POD}/containers/0`, value }], {}));
    }
  });

  test("of a stored object of another kind is decoded without it", () => {
    const other = { ...stored, kind: "ReplicaSet" };
    expect(patched([add("/metadata/labels", labels)], { old: other })).toEqual(patched([add("/metadata/labels", labels)], {}));
  });
});

const values: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(null, "", "1", 1, 1.5, true, [], {}, "128Mi", { name: "A", value: "1" }, [{ name: "B" }], labels),
  fc.constant<Json>(container("main")),
  fc.constant<Json>([container("main"), container("main", { tty: false })]),
);
const paths = fc.constantFrom(
  "/metadata/labels",
  "/metadata/annotations",
  "/spec/replicas",
  "/spec/nope",
  "/spec/strategy",
  `${POD}/containers`,
  `${POD}/containers/0`,
  `${POD}/containers/-`,
  `${POD}/containers/1/env`,
  `${POD}/containers/1/env/0`,
  `${POD}/containers/0/resources`,
  `${POD}/containers/0/tty`,
  `${POD}/initContainers`,
  `${POD}/securityContext`,
);
const operation = fc.oneof(
  fc.record({ op: fc.constantFrom("add", "replace"), path: paths, value: values }),
  fc.record({ op: fc.constant("remove"), path: paths }),
  fc.record({ op: fc.constantFrom("copy", "move"), from: paths, path: paths }),
);
const objects = fc.constantFrom(
  stored,
  deployment([container("main", { env: [{ name: "A", value: "2" }] }), container("proxy")]),
  deployment([container("proxy")]),
);

test("the stored object never changes the result of a patch", () => {
  fc.assert(
    fc.property(fc.array(operation, { minLength: 1, maxLength: 4 }), objects, (operations, object) => {
      expect(patched(operations, { object, old: stored })).toEqual(patched(operations, { object }));
    }),
    { numRuns: 400 },
  );
});
