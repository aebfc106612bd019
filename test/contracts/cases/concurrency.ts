/** Versions and preconditions: a stale write is a conflict, and no write is lost. */
import { expect } from "vitest";
import { area } from "../contract.ts";
import { configMap } from "./objects.ts";

const stale =
  'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again';

export const concurrency = area("concurrency", {
  "every write has a higher resourceVersion": async (api) => {
    const versions = [
      await api.created("configmaps", configMap("a")),
      await api.mergePatch("configmaps/a", { data: { x: "1" } }),
      await api.created("configmaps", configMap("b")),
    ].map((answer) => Number(answer.at("metadata.resourceVersion")));
    expect(versions).toEqual(versions.toSorted((a, b) => a - b));
    expect(new Set(versions).size).toBe(3);
  },

  "PUT with a stale version is a conflict and changes nothing": async (api) => {
    const resourceVersion = (await api.created("configmaps", configMap("a", { x: "1" }))).textAt("metadata.resourceVersion");
    (await api.put("configmaps/a", configMap("a", { x: "2" }, { resourceVersion }))).gives(200);
    (await api.put("configmaps/a", configMap("a", { x: "3" }, { resourceVersion }))).refuses(409, "Conflict", stale, {
      details: { name: "a", kind: "configmaps" },
    });
    (await api.get("configmaps/a")).has("data", { x: "2" });
  },

  "PUT without a version replaces any version": async (api) => {
    await api.created("configmaps", configMap("a", { x: "1" }));
    (await api.put("configmaps/a", configMap("a", { x: "2" }))).gives(200);
  },

  "PUT with a version that is not a number is an error, not a conflict": async (api) => {
    await api.created("configmaps", configMap("a"));
    const answer = await api.put("configmaps/a", configMap("a", {}, { resourceVersion: "new" }));
    expect(answer.status).toBe(500);
  },

  "PUT with a version for a missing object is a 404": async (api) => {
    (await api.put("configmaps/a", configMap("a", {}, { resourceVersion: "5" }))).refuses(404, "NotFound", 'configmaps "a" not found');
  },

  "PUT that creates ignores its version": async (api) => {
    (await api.put("coordination.k8s.io/v1/leases/a", { metadata: { name: "a", resourceVersion: "5" } })).gives(201);
  },

  "PUT with another uid fails the precondition": async (api) => {
    const uid = "11111111-1111-4111-8111-111111111111";
    const made = await api.created("configmaps", configMap("a"));
    (await api.put("configmaps/a", configMap("a", {}, { uid }))).refuses(
      409,
      "Conflict",
      `Operation cannot be fulfilled on configmaps "a": StorageError: invalid object, Code: 4, Key: /registry/configmaps/${api.namespace}/a, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: ${uid}, UID in object meta: ${made.textAt("metadata.uid")}`,
    );
  },

  "a write that changes nothing keeps the version": async (api) => {
    const made = await api.created("configmaps", configMap("a", { x: "1" }));
    const version = made.textAt("metadata.resourceVersion");
    (await api.put("configmaps/a", configMap("a", { x: "1" }))).gives(200).has("metadata.resourceVersion", version);
    (await api.mergePatch("configmaps/a", { data: { x: "1" } })).gives(200).has("metadata.resourceVersion", version);
    (await api.strategicPatch("configmaps/a", {})).gives(200).has("metadata.resourceVersion", version);
  },

  "a deletion checks its preconditions": async (api) => {
    const made = await api.created("configmaps", configMap("a"));
    const own = { uid: made.textAt("metadata.uid"), resourceVersion: made.textAt("metadata.resourceVersion") };
    const uid = "11111111-1111-4111-8111-111111111111";
    (await api.delete("configmaps/a", { preconditions: { uid } })).refuses(
      409,
      "Conflict",
      `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (${uid}) does not match the UID in record (${own.uid}). The object might have been deleted and then recreated`,
    );
    (await api.delete("configmaps/a", { preconditions: { resourceVersion: "1" } })).refuses(
      409,
      "Conflict",
      `Operation cannot be fulfilled on ConfigMap "a": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (${own.resourceVersion}). The object might have been modified`,
    );
    (await api.delete("configmaps/a", { preconditions: own })).gives(200);
  },

  "exactly one of many writers with the same version succeeds": async (api) => {
    const resourceVersion = (await api.created("configmaps", configMap("a"))).textAt("metadata.resourceVersion");
    const writers = Array.from({ length: 8 }, (_, at) =>
      api.put("configmaps/a", configMap("a", { writer: String(at) }, { resourceVersion })),
    );
    const codes = (await Promise.all(writers)).map(({ status }) => status).toSorted((a, b) => a - b);
    expect(codes).toEqual([200, 409, 409, 409, 409, 409, 409, 409]);
  },

  "concurrent patches without a version are retried by the server and all applied": async (api) => {
    await api.created("configmaps", configMap("a"));
    const patches = Array.from({ length: 4 }, (_, at) => api.mergePatch("configmaps/a", { data: { [`k${at}`]: "1" } }));
    for (const answer of await Promise.all(patches)) answer.gives(200);
    (await api.get("configmaps/a")).has("data", { k0: "1", k1: "1", k2: "1", k3: "1" });
  },

  "exactly one of many creations of one name succeeds": async (api) => {
    const makers = Array.from({ length: 6 }, () => api.post("configmaps", configMap("a")));
    const codes = (await Promise.all(makers)).map(({ status }) => status).toSorted((a, b) => a - b);
    expect(codes).toEqual([201, 409, 409, 409, 409, 409]);
  },

  "an object created again with the same name has another uid": async (api) => {
    const first = await api.created("configmaps", configMap("a"));
    await api.delete("configmaps/a");
    const second = await api.created("configmaps", configMap("a"));
    expect(second.textAt("metadata.uid")).not.toBe(first.textAt("metadata.uid"));
  },
});
