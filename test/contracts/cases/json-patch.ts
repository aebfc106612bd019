/** JSON patch (RFC 6902) as the server's Go library applies it, which deviates from the RFC. */
import { expect } from "vitest";
import { area } from "../contract.ts";
import { configMap, podTemplate } from "./objects.ts";

const invalid = "Invalid";

export const jsonPatch = area("json patch", {
  "add, replace, copy, move and remove are applied in order": async (api) => {
    await api.created("configmaps", configMap("a", { x: "1", y: "2", z: "3" }));
    const answer = await api.jsonPatch("configmaps/a", [
      { op: "add", path: "/data/new", value: "n" },
      { op: "replace", path: "/data/x", value: "9" },
      { op: "copy", from: "/data/x", path: "/data/copied" },
      { op: "move", from: "/data/y", path: "/data/moved" },
      { op: "remove", path: "/data/z" },
      { op: "test", path: "/data/copied", value: "9" },
    ]);
    answer.gives(200).has("data", { x: "9", new: "n", copied: "9", moved: "2" });
  },

  "a failed operation discards the operations before it": async (api) => {
    const before = await api.created("configmaps", configMap("a", { x: "1" }));
    (
      await api.jsonPatch("configmaps/a", [
        { op: "add", path: "/data/y", value: "2" },
        { op: "test", path: "/data/x", value: "2" },
      ])
    ).refuses(422, invalid, "the server rejected our request due to an error in our request");
    (await api.get("configmaps/a")).has("metadata.resourceVersion", before.textAt("metadata.resourceVersion")).has("data", { x: "1" });
  },

  "replace of a missing key adds it": async (api) => {
    await api.created("configmaps", configMap("a", { x: "1" }));
    (await api.jsonPatch("configmaps/a", [{ op: "replace", path: "/data/y", value: "2" }])).gives(200).has("data", { x: "1", y: "2" });
  },

  "remove of a missing key is unprocessable": async (api) => {
    await api.created("configmaps", configMap("a", { x: "1" }));
    (await api.jsonPatch("configmaps/a", [{ op: "remove", path: "/data/y" }])).refuses(
      422,
      invalid,
      "the server rejected our request due to an error in our request",
    );
    (await api.jsonPatch("configmaps/a", [{ op: "add", path: "/nothing/here", value: 1 }])).refuses(
      422,
      invalid,
      "the server rejected our request due to an error in our request",
    );
  },

  "test of null succeeds for a missing key": async (api) => {
    await api.created("configmaps", configMap("a", { x: "1" }));
    (await api.jsonPatch("configmaps/a", [{ op: "test", path: "/data/y", value: null }])).gives(200);
    (await api.jsonPatch("configmaps/a", [{ op: "test", path: "/data/y", value: "" }])).gives(422);
    (await api.jsonPatch("configmaps/a", [{ op: "test", path: "/data/x" }])).gives(422);
  },

  "copy of a missing key sets an empty string": async (api) => {
    await api.created("configmaps", configMap("a", { x: "1" }));
    (await api.jsonPatch("configmaps/a", [{ op: "copy", from: "/data/no", path: "/data/y" }])).gives(200).has("data", { x: "1", y: "" });
  },

  "list items are inserted, appended and counted from the end": async (api) => {
    await api.created("podtemplates", podTemplate("a", { containers: [{ name: "c", image: "i", args: ["1", "2"] }] }));
    const args = "/template/spec/containers/0/args";
    const answer = await api.jsonPatch("podtemplates/a", [
      { op: "add", path: `${args}/0`, value: "0" },
      { op: "add", path: `${args}/-`, value: "9" },
      { op: "add", path: `${args}/-1`, value: "8" },
      { op: "replace", path: `${args}/1`, value: "one" },
    ]);
    answer.gives(200).has("template.spec.containers.0.args", ["0", "one", "2", "9", "8"]);
    (await api.jsonPatch("podtemplates/a", [{ op: "add", path: `${args}/99`, value: "x" }])).gives(422);
    (await api.jsonPatch("podtemplates/a", [{ op: "remove", path: `${args}/-1` }]))
      .gives(200)
      .has("template.spec.containers.0.args", ["0", "one", "2", "9"]);
    (await api.jsonPatch("podtemplates/a", [{ op: "remove", path: `${args}/x` }])).gives(422);
  },

  "slashes and tildes in keys are written ~1 and ~0": async (api) => {
    await api.created("configmaps", configMap("a", {}, { annotations: { "example.test/a": "1" } }));
    const answer = await api.jsonPatch("configmaps/a", [
      { op: "replace", path: "/metadata/annotations/example.test~1a", value: "2" },
      { op: "add", path: "/metadata/annotations/example.test~1b", value: "3" },
    ]);
    answer.gives(200).has("metadata.annotations", { "example.test/a": "2", "example.test/b": "3" });
  },

  "add into a missing map fails; add of the map works": async (api) => {
    await api.created("configmaps", { metadata: { name: "a" } });
    (await api.jsonPatch("configmaps/a", [{ op: "add", path: "/metadata/labels/l", value: "1" }])).gives(422);
    (await api.jsonPatch("configmaps/a", [{ op: "add", path: "/metadata/labels", value: { l: "1" } }]))
      .gives(200)
      .has("metadata.labels", { l: "1" });
  },

  "the whole document can be replaced, but not its identity": async (api) => {
    await api.created("configmaps", configMap("a", { x: "1" }));
    const whole = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: api.namespace }, data: { y: "2" } };
    (await api.jsonPatch("configmaps/a", [{ op: "replace", path: "", value: whole }])).gives(200).has("data", { y: "2" });
    (await api.jsonPatch("configmaps/a", [{ op: "replace", path: "/metadata/name", value: "b" }])).gives(400, { reason: "BadRequest" });
    (await api.jsonPatch("configmaps/a", [{ op: "remove", path: "/metadata/name" }])).gives(400);
  },

  "a patch that is not a list of operations is a bad request": async (api) => {
    await api.created("configmaps", configMap("a"));
    (await api.jsonPatch("configmaps/a", { op: "add", path: "/data/x", value: "1" })).gives(400, { reason: "BadRequest" });
    (await api.jsonPatch("configmaps/a", "[{")).gives(400, { reason: "BadRequest" });
    (await api.jsonPatch("configmaps/a", '"text"')).gives(400, { reason: "BadRequest" });
    (await api.jsonPatch("configmaps/a", [{ op: "shout", path: "/data" }])).gives(422);
    (await api.jsonPatch("configmaps/a", [{ path: "/data" }])).gives(422);
    (await api.jsonPatch("configmaps/a", [{ op: "add" }])).gives(422);
  },

  "an empty list of operations changes nothing": async (api) => {
    const before = await api.created("configmaps", configMap("a"));
    (await api.jsonPatch("configmaps/a", [])).gives(200).has("metadata.resourceVersion", before.textAt("metadata.resourceVersion"));
  },

  "a value of the wrong type is rejected with its path": async (api) => {
    await api.created("configmaps", configMap("a", { x: "1" }));
    (await api.jsonPatch("configmaps/a", [{ op: "replace", path: "/data/x", value: 1 }])).gives(422, { reason: "Invalid" });
    (await api.jsonPatch("configmaps/a", [{ op: "replace", path: "/data", value: ["x"] }])).gives(422, { reason: "Invalid" });
  },

  "a patched resourceVersion is a precondition": async (api) => {
    const made = await api.created("configmaps", configMap("a"));
    await api.mergePatch("configmaps/a", { data: { x: "1" } });
    (
      await api.jsonPatch("configmaps/a", [
        { op: "replace", path: "/metadata/resourceVersion", value: made.textAt("metadata.resourceVersion") },
      ])
    ).refuses(
      409,
      "Conflict",
      'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    );
  },

  "more than ten thousand operations are rejected": async (api) => {
    await api.created("configmaps", configMap("a"));
    const many = Array.from({ length: 10_001 }, () => ({ op: "test", path: "/kind", value: "ConfigMap" }));
    (await api.jsonPatch("configmaps/a", many)).refuses(
      413,
      "RequestEntityTooLarge",
      "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001",
    );
  },

  "a patch of a missing object is a 404": async (api) => {
    (await api.jsonPatch("configmaps/no", [])).refuses(404, "NotFound", 'configmaps "no" not found');
  },

  "copies are limited to three megabytes in total": async (api) => {
    await api.created("configmaps", { metadata: { name: "a" }, data: { k: "x".repeat(100_000) } });
    const copies = (count: number) => Array.from({ length: count }, (_, at) => ({ op: "copy", from: "/data/k", path: `/data/k${at}` }));
    const refused = "the server rejected our request due to an error in our request";
    (await api.jsonPatch("configmaps/a", copies(32))).refuses(422, "Invalid", refused);
    // with one copy less the ConfigMap itself is too large
    (await api.jsonPatch("configmaps/a", copies(31))).gives(422, { message: expect.stringContaining("Too long") });
  },
});
