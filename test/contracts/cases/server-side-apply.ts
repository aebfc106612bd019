/** Server-side apply: field managers and conflicts. */
import { expect } from "vitest";
import type { ApiResponse } from "../client/api-response.ts";
import { area } from "../contract.ts";
import { configMap, deployment, podTemplate, service } from "./objects.ts";

type Entry = {
  readonly manager: string;
  readonly operation: string;
  readonly subresource?: string;
  readonly time?: string;
  readonly fieldsV1: unknown;
};

const map = (name: string, data: object, metadata: object = {}) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, ...metadata },
  data,
});
const template = (name: string, spec: object) => ({ apiVersion: "v1", kind: "PodTemplate", ...podTemplate(name, spec) });
const managers = (answer: ApiResponse): readonly Entry[] => (answer.at("metadata.managedFields") ?? []) as readonly Entry[];
/** `manager/operation` of all entries, sorted. */
const who = (answer: ApiResponse) =>
  managers(answer)
    .map(({ manager, operation, subresource }) => [manager, operation, subresource].filter(Boolean).join("/"))
    .toSorted();
const owned = (answer: ApiResponse, manager: string) => managers(answer).find((entry) => entry.manager === manager)?.fieldsV1;

export const serverSideApply = area("server-side apply", {
  "apply creates a missing object with 201": async (api) => {
    const made = await api.apply("one", "configmaps/a", map("a", { x: "1" }));
    made.gives(201, { data: { x: "1" } });
    expect(who(made)).toEqual(["one/Apply"]);
    expect(owned(made, "one")).toEqual({ "f:data": { "f:x": {} } });
  },

  "the same apply again changes nothing": async (api) => {
    const made = await api.apply("one", "configmaps/a", map("a", { x: "1" }));
    (await api.apply("one", "configmaps/a", map("a", { x: "1" })))
      .gives(200)
      .has("metadata.resourceVersion", made.textAt("metadata.resourceVersion"));
  },

  "a field that a manager applied before and omits now is removed": async (api) => {
    await api.apply("one", "configmaps/a", map("a", { x: "1", y: "2" }, { labels: { l: "1" } }));
    (await api.apply("one", "configmaps/a", map("a", { x: "1" }))).gives(200).has("data", { x: "1" }).has("metadata.labels", undefined);
  },

  "a field that another manager also owns is kept": async (api) => {
    await api.apply("one", "configmaps/a", map("a", { x: "1", y: "2" }));
    await api.apply("two", "configmaps/a", map("a", { y: "2" }));
    const answer = await api.apply("one", "configmaps/a", map("a", { x: "1" }));
    answer.gives(200).has("data", { x: "1", y: "2" });
    expect(owned(answer, "two")).toEqual({ "f:data": { "f:y": {} } });
  },

  "a different value for another manager's field is a conflict that names the manager": async (api) => {
    await api.apply("one", "configmaps/a", map("a", { x: "1" }));
    (await api.apply("two", "configmaps/a", map("a", { x: "2" }))).refuses(
      409,
      "Conflict",
      'Apply failed with 1 conflict: conflict with "one": .data.x',
      {
        causes: [["FieldManagerConflict", ".data.x", 'conflict with "one"']],
      },
    );
  },

  "force takes over the field": async (api) => {
    await api.apply("one", "configmaps/a", map("a", { x: "1", y: "1" }));
    const answer = await api.apply("two&force=true", "configmaps/a", map("a", { x: "2" }));
    answer.gives(200).has("data", { x: "2", y: "1" });
    expect(owned(answer, "one")).toEqual({ "f:data": { "f:y": {} } });
    expect(owned(answer, "two")).toEqual({ "f:data": { "f:x": {} } });
  },

  "a conflict with an updater names the version": async (api) => {
    await api.created("configmaps", configMap("a", { x: "1" }));
    (await api.apply("two", "configmaps/a", map("a", { x: "2" }))).refuses(
      409,
      "Conflict",
      `Apply failed with 1 conflict: conflict with "contracts" using v1: .data.x`,
    );
  },

  "several conflicts are listed by manager": async (api) => {
    await api.apply("one", "configmaps/a", map("a", { x: "1", y: "1" }));
    await api.apply("two", "configmaps/a", map("a", { z: "1" }));
    (await api.apply("three", "configmaps/a", map("a", { x: "2", y: "2", z: "2" }))).refuses(
      409,
      "Conflict",
      'Apply failed with 3 conflicts: conflicts with "one":\n- .data.x\n- .data.y\nconflicts with "two":\n- .data.z',
    );
  },

  "an update takes the fields it changes from an applier": async (api) => {
    await api.apply("one", "configmaps/a", map("a", { x: "1", y: "1" }));
    const answer = await api.mergePatch("configmaps/a?fieldManager=patcher", { data: { x: "2" } });
    expect(who(answer)).toEqual(["one/Apply", "patcher/Update"]);
    expect(owned(answer, "one")).toEqual({ "f:data": { "f:y": {} } });
    expect(owned(answer, "patcher")).toEqual({ "f:data": { "f:x": {} } });
  },

  "the field manager of an update is the client's name up to the slash": async (api) => {
    expect(who(await api.post("configmaps", configMap("a", { x: "1" }), { "user-agent": "robot/v1 (linux)" }))).toEqual(["robot/Update"]);
    expect(who(await api.post("configmaps?fieldManager=own", configMap("b", { x: "1" })))).toEqual(["own/Update"]);
  },

  "apply requires a field manager": async (api) => {
    (await api.send("PATCH", "configmaps/a", map("a", {}), { "content-type": "application/apply-patch+yaml" })).refuses(
      422,
      "Invalid",
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
    );
  },

  "the length and characters of a field manager are validated": async (api) => {
    (await api.apply("m".repeat(129), "configmaps/a", map("a", {}))).refuses(
      422,
      "Invalid",
      'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Too long: may not be more than 128 bytes',
    );
    (await api.apply("a%00b", "configmaps/a", map("a", {}))).gives(422);
  },

  "force is valid for apply only": async (api) => {
    await api.created("configmaps", configMap("a"));
    (await api.mergePatch("configmaps/a?force=true", {})).refuses(
      422,
      "Invalid",
      'PatchOptions.meta.k8s.io "" is invalid: force: Forbidden: may not be specified for non-apply patch',
    );
  },

  "an apply needs kind, apiVersion and name": async (api) => {
    (await api.apply("one", "configmaps/a", { metadata: { name: "a" } })).gives(400, { reason: "BadRequest" });
    (await api.apply("one", "configmaps/a", { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } })).gives(400);
    (await api.apply("one", "configmaps/a", map("b", {}))).refuses(
      400,
      "BadRequest",
      "the name of the object (b) does not match the name on the URL (a)",
    );
    (await api.apply("one", "configmaps/a", { apiVersion: "v1", kind: "ConfigMap" })).refuses(
      400,
      "BadRequest",
      "the name of the object (a based on URL) was undeterminable: name must be provided",
    );
  },

  "an apply may not set managed fields": async (api) => {
    (await api.apply("one", "configmaps/a", map("a", {}, { managedFields: [{ manager: "x" }] }))).refuses(
      400,
      "BadRequest",
      "metadata.managedFields must be nil",
    );
  },

  "an unknown field is an error with every fieldValidation": async (api) => {
    (await api.apply("one", "configmaps/a", { ...map("a", {}), colour: "red" })).refuses(
      500,
      undefined,
      "failed to create typed patch object (/a; /v1, Kind=ConfigMap): .colour: field not declared in schema",
    );
    (await api.apply("one&fieldValidation=Ignore", "configmaps/a", { ...map("a", {}), colour: "red" })).gives(500);
  },

  "an apply with a resourceVersion updates only that version, and can still create": async (api) => {
    const made = await api.apply("one", "configmaps/a", map("a", { x: "1" }));
    const resourceVersion = made.textAt("metadata.resourceVersion");
    (await api.apply("one", "configmaps/a", map("a", { x: "2" }, { resourceVersion }))).gives(200);
    (await api.apply("one", "configmaps/a", map("a", { x: "3" }, { resourceVersion }))).gives(409, { reason: "Conflict" });
    (await api.apply("one", "configmaps/new", map("new", {}, { resourceVersion }))).gives(201);
  },

  "an apply with a uid creates nothing": async (api) => {
    const uid = "11111111-1111-4111-8111-111111111111";
    (await api.apply("one", "configmaps/new", map("new", {}, { uid }))).refuses(
      409,
      "Conflict",
      `Operation cannot be fulfilled on configmaps "new": uid mismatch: the provided object specified uid ${uid}, and no existing object was found`,
    );
  },

  "list maps are owned item by item": async (api) => {
    await api.apply("one", "podtemplates/a", template("a", { containers: [{ name: "a", image: "a" }] }));
    const answer = await api.apply("two", "podtemplates/a", {
      apiVersion: "v1",
      kind: "PodTemplate",
      metadata: { name: "a" },
      template: { spec: { containers: [{ name: "b", image: "b" }] } },
    });
    answer.gives(200, { template: { spec: { containers: [{ name: "a" }, { name: "b" }] } } });
    expect(owned(answer, "two")).toEqual({
      "f:template": { "f:spec": { "f:containers": { 'k:{"name":"b"}': { ".": {}, "f:image": {}, "f:name": {} } } } },
    });
    const gone = await api.apply("two", "podtemplates/a", { apiVersion: "v1", kind: "PodTemplate", metadata: { name: "a" } });
    expect((gone.at("template.spec.containers") as readonly unknown[]).length).toBe(1);
    expect(who(gone)).toEqual(["one/Apply"]);
  },

  "a defaulted key field is part of the key and is not owned": async (api) => {
    const made = await api.apply("one", "services/a", {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "a" },
      spec: { ports: [{ port: 80 }] },
    });
    expect(owned(made, "one")).toEqual({ "f:spec": { "f:ports": { 'k:{"port":80,"protocol":"TCP"}': { ".": {}, "f:port": {} } } } });
  },

  "a duplicate key is an error": async (api) => {
    const twice = {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "a" },
      spec: {
        ports: [
          { port: 80, name: "x" },
          { port: 80, name: "y" },
        ],
      },
    };
    (await api.apply("one", "services/a", twice)).refuses(
      500,
      undefined,
      expect.stringContaining('.spec.ports: duplicate entries for key [port=80,protocol="TCP"]'),
    );
  },

  "an atomic list is owned as one": async (api) => {
    await api.apply("one", "podtemplates/a", template("a", { containers: [{ name: "a", image: "a", args: ["x"] }] }));
    (await api.apply("two", "podtemplates/a", template("a", { containers: [{ name: "a", image: "a", args: ["y"] }] }))).refuses(
      409,
      "Conflict",
      'Apply failed with 1 conflict: conflict with "one": .template.spec.containers[name="a"].args',
    );
  },

  "an atomic map is owned as one": async (api) => {
    await api.created("services", service("a"));
    const selecting = (selector: object) => ({ apiVersion: "v1", kind: "Service", metadata: { name: "a" }, spec: { selector } });
    const answer = await api.apply("one&force=true", "services/a", selecting({ app: "b" }));
    expect(owned(answer, "one")).toEqual({ "f:spec": { "f:selector": {} } });
    answer.has("spec.selector", { app: "b" });
  },

  "a set list is owned value by value": async (api) => {
    const holding = (...finalizers: readonly string[]) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", finalizers } });
    await api.apply("one", "configmaps/a", holding("example.test/a"));
    const both = await api.apply("two", "configmaps/a", holding("example.test/b"));
    both.gives(200).has("metadata.finalizers", ["example.test/a", "example.test/b"]);
    const one = await api.apply("one", "configmaps/a", holding());
    one.gives(200).has("metadata.finalizers", ["example.test/b"]);
    await api.mergePatch("configmaps/a", { metadata: { finalizers: null } });
  },

  "applied order and live order interleave": async (api) => {
    const containers = (...names: readonly string[]) => ({ containers: names.map((name) => ({ name, image: name })) });
    await api.apply("one", "podtemplates/a", template("a", containers("a", "b", "c")));
    await api.apply("two", "podtemplates/a", template("a", containers("d")));
    const answer = await api.apply("one", "podtemplates/a", template("a", containers("c", "e", "a")));
    expect((answer.gives(200).at("template.spec.containers") as readonly { name: string }[]).map(({ name }) => name)).toEqual([
      "c",
      "d",
      "e",
      "a",
    ]);
  },

  "PUT with empty managedFields removes all managers": async (api) => {
    const made = await api.apply("one", "configmaps/a", map("a", { x: "1" }));
    const metadata = made.at("metadata") as object;
    const put = await api.put("configmaps/a", { ...(made.body as object), metadata: { ...metadata, managedFields: [] } });
    put.gives(200).has("metadata.managedFields", undefined);
    const again = await api.apply("two", "configmaps/a", map("a", { x: "2" }));
    again.refuses(
      409,
      "Conflict",
      expect.stringMatching(/^Apply failed with 1 conflict: conflict with "before-first-apply" using v1( at .*)?: \.data\.x$/),
    );
  },

  "PUT without managedFields keeps the managers": async (api) => {
    await api.apply("one", "configmaps/a", map("a", { x: "1" }));
    expect(who(await api.put("configmaps/a", configMap("a", { x: "1", y: "2" })))).toEqual(["contracts/Update", "one/Apply"]);
  },

  "an apply does not remove fields that their creator owns": async (api) => {
    await api.post("configmaps?fieldManager=creator", configMap("a", { x: "1", y: "2" }));
    const answer = await api.apply("one", "configmaps/a", map("a", { x: "1" }));
    answer.gives(200).has("data", { x: "1", y: "2" });
    expect(who(answer)).toEqual(["creator/Update", "one/Apply"]);
    expect((await api.apply("one", "configmaps/a", map("a", {}))).at("data")).toEqual({ x: "1", y: "2" });
  },

  "the status is applied through its subresource, and owned there": async (api) => {
    await api.created("policy/v1/poddisruptionbudgets", { metadata: { name: "a" }, spec: { selector: {}, minAvailable: 1 } });
    const status = {
      apiVersion: "policy/v1",
      kind: "PodDisruptionBudget",
      metadata: { name: "a" },
      status: { disruptedPods: { p: "2020-01-01T00:00:00Z" } },
    };
    const answer = await api.apply("one&force=true", "policy/v1/poddisruptionbudgets/a/status", status);
    answer.gives(200, { status: { disruptedPods: { p: "2020-01-01T00:00:00Z" } } });
    expect(who(answer)).toContain("one/Apply/status");
  },

  "an apply through scale takes over the replicas": async (api) => {
    const deployment = {
      apiVersion: "apps/v1",
      kind: "ReplicaSet",
      metadata: { name: "a" },
      spec: {
        replicas: 0,
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
      },
    };
    await api.apply("one", "apps/v1/replicasets/a", deployment);
    const scale = { apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "a" }, spec: { replicas: 3 } };
    (await api.apply("two", "apps/v1/replicasets/a/scale", scale)).gives(409, { reason: "Conflict" });
    (await api.apply("two&force=true", "apps/v1/replicasets/a/scale", scale)).gives(200, { kind: "Scale", spec: { replicas: 3 } });
    expect(who(await api.get("apps/v1/replicasets/a"))).toEqual(expect.arrayContaining(["one/Apply", "two/Apply/scale"]));
    (await api.apply("one", "apps/v1/replicasets/a", deployment)).refuses(
      409,
      "Conflict",
      'Apply failed with 1 conflict: conflict with "two" with subresource "scale": .spec.replicas',
    );
  },

  "fields that Go's conversion adds to a DaemonSet are owned by an updater, not by an applier": async (api) => {
    const { selector, template } = deployment("x").spec;
    const set = (name: string) => ({ apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name }, spec: { selector, template } });
    const made = await api.post("apps/v1/daemonsets", set("a"));
    expect(owned(made, "contracts")).toMatchObject({
      "f:metadata": { "f:annotations": { ".": {}, "f:deprecated.daemonset.template.generation": {} } },
    });
    const applied = await api.apply("one", "apps/v1/daemonsets/b", set("b"));
    applied.gives(201, { metadata: { annotations: { "deprecated.daemonset.template.generation": "1" } } });
    expect(owned(applied, "one")).not.toHaveProperty("f:metadata");
    const changed = await api.apply("one", "apps/v1/daemonsets/b", { ...set("b"), spec: { ...set("b").spec, minReadySeconds: 3 } });
    changed.gives(200, { metadata: { annotations: { "deprecated.daemonset.template.generation": "1" }, generation: 2 } });
    const put = await api.put("apps/v1/daemonsets/a", {
      ...set("a"),
      spec: { ...set("a").spec, template: deployment("x", {}, { hostname: "h" }).spec.template },
    });
    put.gives(200, { metadata: { annotations: { "deprecated.daemonset.template.generation": "2" } } });
  },

  "an apply accepts YAML and JSON": async (api) => {
    (await api.apply("one", "configmaps/a", `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\ndata:\n  x: "1"\n`))
      .gives(201)
      .has("data", { x: "1" });
    (await api.apply("one", "configmaps/a", "apiVersion: [")).gives(400, { reason: "BadRequest" });
  },

  "a dry run returns the result and stores nothing": async (api) => {
    (await api.apply("one&dryRun=All", "configmaps/a", map("a", { x: "1" }))).gives(201, { data: { x: "1" } });
    (await api.get("configmaps/a")).gives(404);
    await api.apply("one", "configmaps/a", map("a", { x: "1" }));
    (await api.apply("one&dryRun=All", "configmaps/a", map("a", { x: "2" }))).gives(200, { data: { x: "2" } });
    (await api.get("configmaps/a")).has("data", { x: "1" });
  },

  "null in an apply sets no value, and is owned": async (api) => {
    const answer = await api.apply("one", "configmaps/a", { ...map("a", { x: "1" }, { labels: null }), binaryData: null });
    answer.gives(201);
    expect(owned(answer, "one")).toEqual({ "f:binaryData": {}, "f:data": { "f:x": {} }, "f:metadata": { "f:labels": {} } });
  },

  "an empty map is owned as a value, and keys of another manager in it are a conflict": async (api) => {
    const answer = await api.apply("one", "configmaps/a", map("a", {}));
    expect(owned(answer, "one")).toEqual({ "f:data": {} });
    (await api.apply("two", "configmaps/a", map("a", { x: "1" }))).refuses(
      409,
      "Conflict",
      'Apply failed with 1 conflict: conflict with "one": .data',
    );
  },

  "apply into a missing namespace is a 404 of the namespace": async (api) => {
    const path = `/api/v1/namespaces/no-${api.id}/configmaps/a?fieldManager=one`;
    (await api.send("PATCH", path, map("a", {}), { "content-type": "application/apply-patch+yaml" })).refuses(
      404,
      "NotFound",
      `namespaces "no-${api.id}" not found`,
    );
  },

  "an invalid object is rejected after the merge": async (api) => {
    (await api.apply("one", "configmaps/a", map("a", { "bad key": "1" }))).gives(422, { reason: "Invalid" });
  },
});
