/** Strategic merge patch on the server: lists are merged by the keys of the Go types, and by directives. */
import { expect } from "vitest";
import type { Api } from "../client/api.ts";
import type { ApiResponse } from "../client/api-response.ts";
import { area } from "../contract.ts";
import { configMap, podTemplate, service } from "./objects.ts";

const at = "podtemplates/a";
const container = (name: string, more: object = {}) => ({ name, image: `example.test/${name}:1`, ...more });
const patchPod = (api: Api, spec: object) => api.strategicPatch(at, { template: { spec } });
const names = (answer: ApiResponse, list: string, key = "name") =>
  ((answer.at(`template.spec.${list}`) ?? []) as readonly Record<string, unknown>[]).map((item) => item[key]);

export const strategicPatch = area("strategic merge patch", {
  "containers are merged by name, and new ones are added first": async (api) => {
    await api.created("podtemplates", podTemplate("a", { containers: [container("a"), container("b")] }));
    const answer = await patchPod(api, {
      containers: [
        { name: "c", image: "new" },
        { name: "a", image: "changed" },
      ],
    });
    expect(names(answer.gives(200), "containers")).toEqual(["c", "a", "b"]);
    answer.has("template.spec.containers.1.image", "changed");
  },

  "$setElementOrder sets the order, and items that it omits stay before their former successors": async (api) => {
    await api.created("podtemplates", podTemplate("a", { containers: [container("a"), container("b"), container("c")] }));
    const answer = await patchPod(api, {
      "$setElementOrder/containers": [{ name: "c" }, { name: "n" }, { name: "a" }],
      containers: [{ name: "n", image: "new" }],
    });
    expect(names(answer.gives(200), "containers")).toEqual(["b", "c", "n", "a"]);
  },

  "$setElementOrder without an item of the patch is an error": async (api) => {
    await api.created("podtemplates", podTemplate("a", { containers: [container("a"), container("b")] }));
    const answer = await patchPod(api, { "$setElementOrder/containers": [{ name: "a" }], containers: [{ name: "b", image: "x" }] });
    expect(answer.status).toBe(500);
  },

  "$patch: delete removes an item by its key": async (api) => {
    await api.created("podtemplates", podTemplate("a", { containers: [container("a"), container("b")] }));
    expect(names(await patchPod(api, { containers: [{ name: "a", $patch: "delete" }] }), "containers")).toEqual(["b"]);
    expect(names(await patchPod(api, { containers: [{ name: "missing", $patch: "delete" }] }), "containers")).toEqual(["b"]);
  },

  "$patch: replace in a list replaces the list and is not itself an item": async (api) => {
    await api.created("podtemplates", podTemplate("a", { containers: [container("a"), container("b")] }));
    expect(names(await patchPod(api, { containers: [{ $patch: "replace" }, container("z")] }), "containers")).toEqual(["z"]);
  },

  "$patch: replace in a map replaces the map": async (api) => {
    await api.created("podtemplates", podTemplate("a", { nodeSelector: { a: "1" }, securityContext: { runAsUser: 1, fsGroup: 2 } }));
    const answer = await patchPod(api, {
      nodeSelector: { $patch: "replace", b: "2" },
      securityContext: { $patch: "replace", runAsGroup: 3 },
    });
    answer.gives(200).has("template.spec.nodeSelector", { b: "2" }).has("template.spec.securityContext", { runAsGroup: 3 });
  },

  "$patch: delete in a map removes it": async (api) => {
    await api.created("podtemplates", podTemplate("a", { nodeSelector: { a: "1" } }));
    (await patchPod(api, { nodeSelector: { $patch: "delete" } })).gives(200).has("template.spec.nodeSelector", undefined);
  },

  "$patch: merge and other unknown directives are rejected": async (api) => {
    await api.created("podtemplates", podTemplate("a", { nodeSelector: { a: "1" } }));
    expect((await patchPod(api, { containers: [{ name: "web", $patch: "merge", image: "x" }] })).status).toBe(500);
    expect((await patchPod(api, { nodeSelector: { $patch: "sometimes" } })).status).toBe(500);
  },

  "an unknown directive for a missing map drops the map": async (api) => {
    await api.created("podtemplates", podTemplate("a"));
    (await patchPod(api, { nodeSelector: { $patch: "sometimes", a: "1" } })).gives(200).has("template.spec.nodeSelector", undefined);
  },

  "$retainKeys keeps only the keys that it names": async (api) => {
    await api.created("podtemplates", podTemplate("a", { volumes: [{ name: "v", emptyDir: {} }] }));
    const answer = await patchPod(api, { volumes: [{ name: "v", $retainKeys: ["name", "configMap"], configMap: { name: "c" } }] });
    answer
      .gives(200, { template: { spec: { volumes: [{ name: "v", configMap: { name: "c" } }] } } })
      .has("template.spec.volumes.0.emptyDir", undefined);
  },

  "$retainKeys without a key of the patch is an error": async (api) => {
    await api.created("podtemplates", podTemplate("a", { volumes: [{ name: "v", emptyDir: {} }] }));
    expect((await patchPod(api, { volumes: [{ name: "v", $retainKeys: ["name"], configMap: { name: "c" } }] })).status).toBe(400);
  },

  "$deleteFromPrimitiveList removes values from a list of primitives": async (api) => {
    await api.created("configmaps", configMap("a", {}, { finalizers: ["example.test/a", "example.test/b"] }));
    (await api.strategicPatch("configmaps/a", { metadata: { "$deleteFromPrimitiveList/finalizers": ["example.test/a"] } }))
      .gives(200)
      .has("metadata.finalizers", ["example.test/b"]);
    (await api.strategicPatch("configmaps/a", { metadata: { finalizers: ["example.test/c"] } }))
      .gives(200)
      .has("metadata.finalizers", ["example.test/c", "example.test/b"]);
    await api.mergePatch("configmaps/a", { metadata: { finalizers: null } });
  },

  "env is merged by name, mounts by path, ports by containerPort alone": async (api) => {
    const first = {
      env: [
        { name: "A", value: "1" },
        { name: "B", value: "2" },
      ],
      volumeMounts: [{ name: "v", mountPath: "/a" }],
      ports: [{ containerPort: 53, protocol: "TCP", name: "dns" }],
    };
    await api.created("podtemplates", podTemplate("a", { containers: [container("c", first)], volumes: [{ name: "v", emptyDir: {} }] }));
    const second = {
      env: [
        { name: "A", value: "9" },
        { name: "C", value: "3" },
      ],
      volumeMounts: [
        { name: "v", mountPath: "/a", readOnly: true },
        { name: "v", mountPath: "/b" },
      ],
      ports: [{ containerPort: 53, protocol: "UDP" }],
    };
    const answer = await patchPod(api, { containers: [{ name: "c", ...second }] });
    answer.gives(200);
    answer.has("template.spec.containers.0.env", [
      { name: "A", value: "9" },
      { name: "C", value: "3" },
      { name: "B", value: "2" },
    ]);
    answer.has("template.spec.containers.0.volumeMounts", [
      { name: "v", mountPath: "/a", readOnly: true },
      { name: "v", mountPath: "/b" },
    ]);
    answer.has("template.spec.containers.0.ports", [{ containerPort: 53, protocol: "UDP", name: "dns" }]);
  },

  "lists without a merge key are replaced": async (api) => {
    await api.created(
      "podtemplates",
      podTemplate("a", { containers: [container("c", { args: ["1", "2"] })], tolerations: [{ key: "a", operator: "Exists" }] }),
    );
    const answer = await patchPod(api, { containers: [{ name: "c", args: ["3"] }], tolerations: [{ key: "b", operator: "Exists" }] });
    answer
      .gives(200)
      .has("template.spec.containers.0.args", ["3"])
      .has("template.spec.tolerations", [{ key: "b", operator: "Exists" }]);
  },

  "an item without its merge key is a server error": async (api) => {
    await api.created("podtemplates", podTemplate("a"));
    (await patchPod(api, { containers: [{ image: "x" }] })).refuses(
      500,
      undefined,
      expect.stringContaining("does not contain declared merge key: name"),
    );
  },

  "null removes a merge list": async (api) => {
    await api.created("podtemplates", podTemplate("a", { volumes: [{ name: "v", emptyDir: {} }], initContainers: [container("i")] }));
    (await patchPod(api, { volumes: null, initContainers: null }))
      .gives(200)
      .has("template.spec.volumes", undefined)
      .has("template.spec.initContainers", undefined);
  },

  "null inside an item removes the field of that item": async (api) => {
    await api.created("podtemplates", podTemplate("a", { containers: [container("c", { command: ["x"], workingDir: "/w" })] }));
    (await patchPod(api, { containers: [{ name: "c", command: null, workingDir: null }] }))
      .gives(200)
      .has("template.spec.containers.0.command", undefined)
      .has("template.spec.containers.0.workingDir", undefined);
  },

  "the ports of a Service are merged by port": async (api) => {
    await api.created(
      "services",
      service("a", {
        ports: [
          { name: "x", port: 80 },
          { name: "y", port: 81 },
        ],
      }),
    );
    const answer = await api.strategicPatch("services/a", {
      spec: {
        ports: [
          { port: 81, targetPort: 8081 },
          { name: "z", port: 82 },
        ],
      },
    });
    expect(
      (answer.gives(200).at("spec.ports") as readonly { name: string; targetPort: number }[]).map(
        ({ name, targetPort }) => `${name}:${targetPort}`,
      ),
    ).toEqual(["x:80", "y:8081", "z:82"]);
  },

  "owner references are merged by uid": async (api) => {
    const owner = (uid: string, name: string) => ({ apiVersion: "v1", kind: "ConfigMap", name, uid });
    await api.created("configmaps", configMap("o"));
    const uid = (await api.get("configmaps/o")).textAt("metadata.uid");
    await api.created("configmaps", configMap("a", {}, { ownerReferences: [owner(uid, "o")] }));
    (await api.strategicPatch("configmaps/a", { metadata: { ownerReferences: [{ ...owner(uid, "o"), controller: true }] } }))
      .gives(200)
      .has("metadata.ownerReferences", [{ ...owner(uid, "o"), controller: true }]);
    (await api.strategicPatch("configmaps/a", { metadata: { ownerReferences: [{ $patch: "delete", uid }] } }))
      .gives(200)
      .has("metadata.ownerReferences", undefined);
  },

  "topology spread constraints are merged by topologyKey, image pull secrets by name, host aliases by ip": async (api) => {
    await api.created(
      "podtemplates",
      podTemplate("a", {
        topologySpreadConstraints: [{ topologyKey: "zone", maxSkew: 1, whenUnsatisfiable: "DoNotSchedule" }],
        imagePullSecrets: [{ name: "x" }],
        hostAliases: [{ ip: "10.1.1.1", hostnames: ["a"] }],
      }),
    );
    const answer = await patchPod(api, {
      topologySpreadConstraints: [{ topologyKey: "zone", maxSkew: 5 }],
      imagePullSecrets: [{ name: "y" }],
      hostAliases: [{ ip: "10.1.1.1", hostnames: ["b"] }],
    });
    answer.gives(200, {
      template: {
        spec: { topologySpreadConstraints: [{ maxSkew: 5, whenUnsatisfiable: "DoNotSchedule" }], hostAliases: [{ hostnames: ["b"] }] },
      },
    });
    expect(names(answer, "imagePullSecrets")).toEqual(["y", "x"]);
  },

  "custom resources do not support strategic merge patch": async (api) => {
    const group = `${api.id}.contracts.test`;
    const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
    await api.created("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [{ name: "v1", served: true, storage: true, schema }],
      },
    });
    const thing = { apiVersion: `${group}/v1`, kind: "Thing", metadata: { name: "a" } };
    await api.until(
      () => api.post(`${group}/v1/things`, thing),
      ({ status }) => status === 201,
    );
    (await api.strategicPatch(`${group}/v1/things/a`, { spec: {} })).refuses(
      415,
      "UnsupportedMediaType",
      "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    );
  },

  "a patch that is not an object, or deletes the root, is a bad request": async (api) => {
    await api.created("podtemplates", podTemplate("a"));
    for (const bad of ["[]", "1", '"x"', "{", ""]) expect((await api.strategicPatch(at, bad)).status, bad).toBe(400);
    expect((await api.strategicPatch(at, { $patch: "delete" })).status).toBe(400);
    expect((await api.strategicPatch(at, { $patch: "replace", template: podTemplate("a").template })).status).toBe(400);
  },

  "a list instead of an object is an error, and an object instead of a list": async (api) => {
    await api.created("podtemplates", podTemplate("a"));
    const codes = [];
    for (const spec of [
      { containers: { name: "web" } },
      { nodeSelector: ["x"] },
      { containers: ["web"] },
      { terminationGracePeriodSeconds: "long" },
    ]) {
      codes.push((await patchPod(api, spec)).status);
    }
    expect(codes).toEqual([422, 422, 500, 422]);
  },

  "directives in an atomic list are unknown fields": async (api) => {
    await api.created("podtemplates", podTemplate("a", { tolerations: [{ key: "a", operator: "Exists" }] }));
    const answer = await patchPod(api, { tolerations: [{ $patch: "replace" }, { key: "b", operator: "Exists" }] });
    expect(answer.warnings).toEqual(['unknown field "template.spec.tolerations[0].$patch"']);
  },
});
