/** JSON merge patch (RFC 7396). */
import { area } from "../contract.ts";
import { configMap, podTemplate } from "./objects.ts";

export const mergePatch = area("merge patch", {
  "values are set, null removes, the rest stays": async (api) => {
    await api.created("configmaps", configMap("a", { x: "1", y: "2" }, { labels: { l: "1" } }));
    (await api.mergePatch("configmaps/a", { data: { x: null, z: "3" } }))
      .gives(200)
      .has("data", { y: "2", z: "3" })
      .has("metadata.labels", { l: "1" });
  },

  "null for a missing field changes nothing": async (api) => {
    const before = await api.created("configmaps", configMap("a", { x: "1" }));
    (await api.mergePatch("configmaps/a", { data: { no: null }, binaryData: null, metadata: { labels: null } }))
      .gives(200)
      .has("metadata.resourceVersion", before.textAt("metadata.resourceVersion"));
  },

  "nulls inside a new map are dropped": async (api) => {
    await api.created("configmaps", { metadata: { name: "a" } });
    (await api.mergePatch("configmaps/a", { metadata: { annotations: { a: "1", b: null } } }))
      .gives(200)
      .has("metadata.annotations", { a: "1" });
  },

  "lists are replaced as a whole": async (api) => {
    await api.created(
      "podtemplates",
      podTemplate("a", {
        containers: [
          { name: "c", image: "i" },
          { name: "d", image: "j" },
        ],
      }),
    );
    const answer = await api.mergePatch("podtemplates/a", { template: { spec: { containers: [{ name: "e", image: "k" }] } } });
    answer.gives(200, { template: { spec: { containers: [{ name: "e", image: "k" }] } } });
  },

  "a whole map can be removed": async (api) => {
    await api.created("configmaps", configMap("a", { x: "1" }));
    (await api.mergePatch("configmaps/a", { data: null })).gives(200).has("data", undefined);
  },

  "a patch that is not an object is a bad request": async (api) => {
    await api.created("configmaps", configMap("a"));
    (await api.mergePatch("configmaps/a", "[]")).gives(400, { reason: "BadRequest" });
    (await api.mergePatch("configmaps/a", "null")).gives(400);
    (await api.mergePatch("configmaps/a", "3")).gives(400);
    (await api.mergePatch("configmaps/a", "{")).gives(400, { reason: "BadRequest" });
    (await api.mergePatch("configmaps/a", "")).gives(400, { reason: "BadRequest" });
  },

  "a patch can neither remove nor change the name": async (api) => {
    await api.created("configmaps", configMap("a"));
    (await api.mergePatch("configmaps/a", { metadata: { name: "b" } })).refuses(
      400,
      "BadRequest",
      "the name of the object (b) does not match the name on the URL (a)",
    );
    (await api.mergePatch("configmaps/a", { metadata: { namespace: "default" } })).refuses(
      400,
      "BadRequest",
      "the namespace of the provided object does not match the namespace sent on the request",
    );
    (await api.mergePatch("configmaps/a", { kind: "Secret" })).gives(422, { reason: "Invalid" });
  },

  "the uid cannot be patched": async (api) => {
    const made = await api.created("configmaps", configMap("a"));
    const uid = "11111111-1111-4111-8111-111111111111";
    (await api.mergePatch("configmaps/a", { metadata: { uid } })).refuses(
      422,
      "Invalid",
      `ConfigMap "a" is invalid: metadata.uid: Invalid value: "${uid}": field is immutable`,
    );
    (await api.mergePatch("configmaps/a", { metadata: { uid: null } })).gives(200).has("metadata.uid", made.textAt("metadata.uid"));
  },

  "a wrong type is rejected with the Go type of the field": async (api) => {
    await api.created("configmaps", configMap("a", { x: "1" }));
    (await api.mergePatch("configmaps/a", { data: { x: 1 } })).gives(422);
    (await api.mergePatch("configmaps/a", { data: [] })).gives(422);
    (await api.mergePatch("configmaps/a", { immutable: "yes" })).gives(422);
  },

  "a patch cannot change creation time and managed fields": async (api) => {
    const made = await api.created("configmaps", configMap("a"));
    (await api.mergePatch("configmaps/a", { metadata: { creationTimestamp: "2001-01-01T00:00:00Z", generation: 5 } }))
      .gives(200)
      .has("metadata.creationTimestamp", made.textAt("metadata.creationTimestamp"));
  },

  "a stale resourceVersion in the patch is a conflict": async (api) => {
    const made = await api.created("configmaps", configMap("a"));
    await api.mergePatch("configmaps/a", { data: { x: "1" } });
    (
      await api.mergePatch("configmaps/a", { metadata: { resourceVersion: made.textAt("metadata.resourceVersion") }, data: { y: "1" } })
    ).refuses(
      409,
      "Conflict",
      'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
    );
  },

  "only an apply accepts YAML": async (api) => {
    await api.created("configmaps", configMap("a"));
    (await api.mergePatch("configmaps/a", "data: {x: '1'}")).gives(400, { reason: "BadRequest" });
  },

  "nested maps are merged recursively": async (api) => {
    await api.created(
      "podtemplates",
      podTemplate("a", { nodeSelector: { a: "1", b: "2" }, securityContext: { runAsUser: 1, fsGroup: 2 } }),
    );
    (
      await api.mergePatch("podtemplates/a", {
        template: { spec: { nodeSelector: { a: null, c: "3" }, securityContext: { runAsUser: 7 } } },
      })
    ).gives(200, {
      template: { spec: { nodeSelector: { b: "2", c: "3" }, securityContext: { runAsUser: 7, fsGroup: 2 } } },
    });
  },
});
