/** A patched object is decoded by Go's JSON decoder or by its unstructured converter, depending on the patch; the converter has other messages and rules. */
import { expect } from "vitest";
import type { ApiResponse } from "../client/api-response.ts";
import { area } from "../contract.ts";
import { object, Things, things, v1 } from "./definitions.ts";
import { configMap, deployment, podTemplate } from "./objects.ts";

const TEMPLATES = "podtemplates";
const inPod = (spec: object) => ({ template: { spec } });
const inContainer = (container: object) => inPod({ containers: [{ name: "web", ...container }] });
const applied = (spec: object) => ({ apiVersion: "v1", kind: "PodTemplate", ...podTemplate("a", spec) });

/** The message without the quoted patch or object before it. */
const endOfMessage = (answer: ApiResponse) => answer.textAt("message").replace(/^.*(?:": |Kind=\w+: )/s, "");

const WRONG: readonly (readonly [what: string, patch: object, message: string])[] = [
  ["a fraction for an integer", inPod({ priority: 1.5 }), "cannot convert float64 to int32"],
  ["a text for an integer", inPod({ priority: "x" }), "unrecognized type: int32"],
  ["a number for a text", inPod({ hostname: 5 }), "cannot convert int64 to string"],
  ["a fraction for a text", inPod({ hostname: 1.5 }), "unrecognized type: string"],
  ["a list for a text", inPod({ hostname: [] }), "unrecognized type: string"],
  ["a number for a text with its own Go type", inContainer({ imagePullPolicy: 5 }), "cannot convert int64 to v1.PullPolicy"],
  ["a text for a flag", inPod({ hostNetwork: "x" }), "unrecognized type: bool"],
  ["a text for a struct", inPod({ securityContext: "x" }), "cannot restore struct from: string"],
  ["a list for a struct", inPod({ securityContext: [] }), "cannot restore struct from: slice"],
  ["a flag for a map", inPod({ nodeSelector: true }), "cannot restore map from bool"],
  ["a fraction for a map", inPod({ nodeSelector: 1.5 }), "cannot restore map from float64"],
  ["a map for a list", inContainer({ args: {} }), "cannot restore slice from map"],
  ["a number for a time", { metadata: { creationTimestamp: 5 } }, "json: cannot unmarshal number into Go value of type string"],
  [
    "a flag for a port",
    inContainer({ livenessProbe: { tcpSocket: { port: true } } }),
    "json: cannot unmarshal bool into Go value of type int32",
  ],
];

export const conversions = area("conversions", {
  "a strategic patch truncates an integer that is too large to the bits of its field": async (api) => {
    await api.created(TEMPLATES, podTemplate("a"));
    (await api.strategicPatch(`${TEMPLATES}/a`, inPod({ priority: 5_000_000_000 }))).gives(200).has("template.spec.priority", 705_032_704);
    (await api.strategicPatch(`${TEMPLATES}/a`, inPod({ priority: 1e30 }))).gives(200).has("template.spec.priority", 0);
    (await api.mergePatch(`${TEMPLATES}/a`, inPod({ priority: 5_000_000_000 }))).gives(422);
  },

  "apply truncates it too, and rejects a fraction": async (api) => {
    (await api.apply("one", `${TEMPLATES}/a`, applied({ priority: -5_000_000_000 })))
      .gives(201)
      .has("template.spec.priority", -705_032_704);
    const answer = await api.apply("one", `${TEMPLATES}/b`, { ...applied({ priority: 1.5 }), metadata: { name: "b" } });
    answer.refuses(
      500,
      undefined,
      "failed to convert new object (/b; /v1, Kind=PodTemplate) to proper version: unable to convert unstructured object to /v1, Kind=PodTemplate: cannot convert float64 to int32",
    );
  },

  "a strategic patch with a wrong type is rejected with the converter's message": async (api) => {
    await api.created(TEMPLATES, podTemplate("a"));
    const found: string[] = [];
    for (const [what, patch] of WRONG) {
      const answer = await api.strategicPatch(`${TEMPLATES}/a`, patch);
      found.push(`${what}: ${answer.status} ${endOfMessage(answer)}`);
    }
    expect(found).toEqual(WRONG.map(([what, , message]) => `${what}: 422 ${message}`));
  },

  "a patch cannot remove the kind of a custom object": async (api) => {
    const made = await things(api, object({}));
    (await made.post("a", {})).gives(201);
    const path = `${made.path}/a`;
    for (const patch of [{ kind: null }, { kind: "" }]) {
      expect(endOfMessage((await api.mergePatch(path, patch)).gives(422))).toMatch(/^Object 'Kind' is missing in '\{"apiVersion":"/);
    }
    const removed = await api.jsonPatch(path, [{ op: "remove", path: "/kind" }]);
    expect(endOfMessage(removed.gives(422))).toMatch(/^Object 'Kind' is missing in '/);
    (await api.jsonPatch(path, [{ op: "replace", path: "", value: {} }])).refuses(
      422,
      "Invalid",
      ` "" is invalid: patch: Invalid value: "{}": Object 'Kind' is missing in '{}'`,
    );
    (await api.mergePatch(path, { apiVersion: null })).refuses(
      500,
      "InternalError",
      "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'",
    );
  },

  "kind and apiVersion must be strings": async (api) => {
    await api.created("configmaps", configMap("a", {}));
    const made = await things(api, object({}));
    (await made.post("a", {})).gives(201);
    for (const path of ["configmaps/a", `${made.path}/a`]) {
      const numbers = [await api.mergePatch(path, { kind: 5 }), await api.mergePatch(path, { apiVersion: 5 })];
      expect(numbers.map((answer) => `${answer.status} ${endOfMessage(answer)}`)).toEqual([
        "422 couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .kind of type string",
        "422 couldn't get version/kind; json parse error: json: cannot unmarshal number into Go struct field .apiVersion of type string",
      ]);
      (await api.jsonPatch(path, [{ op: "replace", path: "", value: [] }])).refuses(
        422,
        "Invalid",
        ` "" is invalid: patch: Invalid value: "[]": couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\\"apiVersion,omitempty\\""; Kind string "json:\\"kind,omitempty\\"" }`,
      );
    }
  },

  "a patch cannot remove the apiVersion of a built-in object, but may remove its kind": async (api) => {
    await api.created("configmaps", configMap("a", { x: "1" }));
    const message = "the name of the object (a based on URL) was undeterminable: name must be provided";
    (await api.mergePatch("configmaps/a", { apiVersion: null })).refuses(400, "BadRequest", message);
    (await api.jsonPatch("configmaps/a", [{ op: "replace", path: "", value: {} }])).refuses(400, "BadRequest", message);
    (await api.mergePatch("configmaps/a", { kind: null })).gives(200);
    const made = await things(api, object({}));
    (await api.mergePatch(made.definition, { kind: null })).gives(200).has("kind", "CustomResourceDefinition");
  },

  "an applied Scale is decoded as its kind": async (api) => {
    await api.created("apps/v1/deployments", deployment("a", { paused: true, replicas: 1 }));
    const scale = (replicas: number) => ({ apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "a" }, spec: { replicas } });
    (await api.apply("one&force=true", "apps/v1/deployments/a/scale", scale(1.5))).refuses(
      500,
      undefined,
      "failed to convert new object (/a; autoscaling/v1, Kind=Scale) to proper version: unable to convert unstructured object to autoscaling/v1, Kind=Scale: cannot convert float64 to int32",
    );
    (await api.apply("one&force=true", "apps/v1/deployments/a/scale", scale(2))).gives(200).has("spec.replicas", 2);
  },

  "a custom resource has a Scale only where it has replicas, and rejects an applied Scale": async (api) => {
    const made = new Things(api);
    const scale = { specReplicasPath: ".spec.n", statusReplicasPath: ".status.n" };
    await made.define([v1(object({ n: { type: "integer" } }), { subresources: { status: {}, scale } })]);
    (await made.post("a", {})).gives(201);
    (await made.post("b", { n: 1 })).gives(201);
    const path = (name: string) => `${made.path}/${name}/scale`;
    (await api.get(path("a"))).refuses(500, "InternalError", 'Internal error occurred: the spec replicas field ".spec.n" does not exist');
    const applied = (replicas: unknown) => ({ apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "b" }, spec: { replicas } });
    (await api.apply("one&force=true", path("b"), applied(2))).refuses(
      500,
      undefined,
      "failed to convert new object (/b; autoscaling/v1, Kind=Scale) to proper version: request to convert CR to an invalid group/version: autoscaling/v1",
    );
    (await api.put(path("b"), { ...applied(1.5), metadata: { name: "b" } })).refuses(
      400,
      "BadRequest",
      expect.stringMatching(/^no kind is registered for the type v1\.Scale in scheme "/),
    );
    (await api.mergePatch(path("b"), { spec: { replicas: 3 } })).gives(200).has("spec.replicas", 3);
  },

  "DeleteOptions are decoded as strictly as objects": async (api) => {
    await api.created("configmaps", configMap("a", {}));
    const wrong = async (body: unknown) => (await api.delete("configmaps/a", body as object)).gives(400).at("message");
    expect(await wrong({ preconditions: 5 })).toBe(
      "json: cannot unmarshal number into Go struct field DeleteOptions.preconditions of type v1.Preconditions",
    );
    expect(await wrong({ dryRun: "All" })).toBe("json: cannot unmarshal string into Go struct field DeleteOptions.dryRun of type []string");
    expect(await wrong({ dryRun: [5] })).toBe("json: cannot unmarshal number into Go struct field DeleteOptions.dryRun of type string");
    expect(await wrong({ preconditions: { uid: 5 } })).toBe(
      "json: cannot unmarshal number into Go struct field Preconditions.preconditions.uid of type types.UID",
    );
    expect(await wrong({ gracePeriodSeconds: 1.5 })).toBe(
      "json: cannot unmarshal number 1.5 into Go struct field DeleteOptions.gracePeriodSeconds of type int64",
    );
    expect(await wrong([])).toMatch(
      /^couldn't get version\/kind; json parse error: json: cannot unmarshal array into Go value of type struct \{/,
    );
    (await api.delete("configmaps/a?dryRun=")).refuses(
      422,
      "Invalid",
      'DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: [""]: supported values: "All"',
    );
    (await api.get("configmaps/a")).gives(200);
  },

  "all errors of a Binding are reported together": async (api) => {
    await api.created("pods", {
      metadata: { name: "a" },
      spec: { schedulingGates: [{ name: "x.io/y" }], containers: [{ name: "c", image: "i" }] },
    });
    (await api.post("pods/a/binding", { metadata: { name: "a" }, target: { kind: "Foo" } })).refuses(
      500,
      undefined,
      '[target.kind: Unsupported value: "Foo": supported values: "Node", "<empty>", target.name: Required value]',
    );
  },
});
