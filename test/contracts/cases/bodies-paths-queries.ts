/** Bodies of subresources, unusual paths and queries, and fields that the server sets by itself. */
import { expect } from "vitest";
import { area } from "../contract.ts";
import { Things, v1 } from "./definitions.ts";
import { deployment, pod } from "./objects.ts";

const claim = (name: string, spec: object) => ({
  metadata: { name },
  spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } }, ...spec },
});
const autoscaler = (name: string) => ({
  metadata: { name },
  spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: "d" } },
});
const HPAS = (version: string) => `autoscaling/${version}/horizontalpodautoscalers`;
const OBJECT = { type: "object", properties: { a: { type: "string" } } };

export const bodiesPathsQueries = area("bodies, paths and queries", {
  "an error about a patched custom resource names the kind and group of the patched object": async (api) => {
    const things = new Things(api);
    await things.define([v1(OBJECT)]);
    await things.post("a", { a: "1" });
    (await api.mergePatch(`${things.path}/a`, { apiVersion: "x/v1" })).refuses(
      422,
      "Invalid",
      `Thing.x "a" is invalid: apiVersion: Invalid value: "x/v1": must be ${things.group}/v1`,
    );
    (await api.jsonPatch(`${things.path}/a`, [{ op: "remove", path: "/apiVersion" }])).refuses(
      500,
      "InternalError",
      "Internal error occurred: Object 'apiVersion' is missing in 'object has no apiVersion field'",
    );
  },

  "for a custom resource, duplicate fields are reported before unknown fields": async (api) => {
    const things = new Things(api);
    await things.define([v1(OBJECT)]);
    const text = `{"apiVersion":"${things.group}/v1","kind":"Thing","metadata":{"name":"b"},"zz":1,"spec":{"x":1,"a":"1","a":"2"}}`;
    (await api.post(`${things.path}?fieldValidation=Strict`, text)).refuses(
      400,
      "BadRequest",
      'Thing in version "v1" cannot be handled as a Thing: strict decoding error: duplicate field "spec.a", unknown field "spec.x", unknown field "zz"',
    );
  },

  "an invalid Event of either group is reported as a core Event": async (api) => {
    (await api.post("events.k8s.io/v1/events", { metadata: { name: "e" } })).refuses(
      422,
      "Invalid",
      'Event "e" is invalid: [involvedObject.namespace: Invalid value: "": does not match event.namespace, eventTime: Required value, type: Invalid value: "": has invalid value: ]',
    );
  },

  "replicas that are 0 have no field manager": async (api) => {
    const { spec, ...rest } = deployment("a", { replicas: 1 }) as { spec: object };
    await api.created("replicationcontrollers", { ...rest, spec: { ...spec, selector: { app: "a" } } });
    const owners = async () =>
      ((await api.get("replicationcontrollers/a")).at("metadata.managedFields") as readonly { fieldsV1: object; subresource?: string }[])
        .filter(({ subresource, fieldsV1 }) => subresource !== "status" && JSON.stringify(fieldsV1).includes("f:replicas"))
        .map(({ subresource }) => subresource ?? "");
    expect(await owners()).toEqual([""]);
    (await api.mergePatch("replicationcontrollers/a/scale", { spec: { replicas: 2 } })).gives(200);
    expect(await owners()).toEqual(["scale"]);
    (await api.mergePatch("replicationcontrollers/a/scale", { spec: { replicas: 0 } })).gives(200);
    expect(await owners()).toEqual([]);
  },

  "a Scale is decoded as strictly as any other body": async (api) => {
    await api.created("apps/v1/replicasets", deployment("a", { replicas: 0 }));
    const scale = (more: object) => ({ apiVersion: "autoscaling/v1", kind: "Scale", metadata: { name: "a" }, ...more });
    (await api.put("apps/v1/replicasets/a/scale", scale({ spec: [] }))).refuses(
      400,
      "BadRequest",
      'Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal array into Go struct field Scale.spec of type v1.ScaleSpec',
    );
    (await api.mergePatch("apps/v1/replicasets/a/scale", { metadata: { uid: "x" } })).gives(409, {
      message: expect.stringMatching(/^Operation cannot be fulfilled on replicasets\/scale\.apps "a": Precondition failed: UID/) as string,
    });
  },

  "a Binding must name its Pod and a Node": async (api) => {
    await api.created("pods", pod("p"));
    const binding = (more: object) => api.post("pods/p/binding?dryRun=All", { metadata: { name: "p" }, ...more });
    (await binding({ metadata: {}, target: { name: "n" } })).refuses(
      400,
      "BadRequest",
      "name in URL does not match name in Binding object",
    );
    (await binding({ target: {} })).refuses(500, undefined, "target.name: Required value");
    (await binding({ target: { kind: "Foo", name: "n" } })).refuses(
      500,
      undefined,
      'target.kind: Unsupported value: "Foo": supported values: "Node", "<empty>"',
    );
    (await binding({ kind: "Pod", apiVersion: "v1", target: { name: "n" } })).refuses(
      400,
      "BadRequest",
      'Pod in version "v1" cannot be handled as a Binding: converting (v1.Pod) to (core.Binding): unknown conversion',
    );
  },

  "the options of an eviction are validated as DeleteOptions": async (api) => {
    await api.created("pods", pod("p"));
    const evict = (deleteOptions: unknown) => api.post("pods/p/eviction?dryRun=All", { metadata: { name: "p" }, deleteOptions });
    (await evict({ propagationPolicy: "Foo" })).gives(422, {
      message:
        'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Foo": supported values: "Foreground", "Background", "Orphan", "nil"',
    });
    (await evict({ gracePeriodSeconds: "x" })).gives(400);
    (await evict({ preconditions: { uid: "x" } })).gives(409);
    (await api.post("pods/p/eviction?dryRun=All", { apiVersion: "policy/v1beta1", kind: "Eviction", metadata: { name: "p" } })).gives(201);
  },

  "a resize cannot change the QoS class of a Pod": async (api) => {
    await api.created("pods", pod("p"));
    const containers = [{ name: "web", resources: { requests: { cpu: "1" } } }];
    (await api.strategicPatch("pods/p/resize", { spec: { containers } })).refuses(
      422,
      "Invalid",
      'Pod "p" is invalid: spec: Invalid value: "BestEffort": Pod QOS Class may not change as a result of resizing',
    );
  },

  "a Pod's RuntimeClass must exist, and sets the overhead and scheduling of the Pod": async (api) => {
    const tried = (spec: object) => api.post("pods?dryRun=All", pod("p", spec));
    (await tried({ runtimeClassName: "none" })).refuses(
      403,
      "Forbidden",
      'pods "p" is forbidden: pod rejected: RuntimeClass "none" not found',
    );
    (await tried({ overhead: { cpu: "1" } })).refuses(
      403,
      "Forbidden",
      'pods "p" is forbidden: pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead',
    );
    await api.created("/apis/node.k8s.io/v1/runtimeclasses", {
      metadata: { name: api.id },
      handler: "h",
      overhead: { podFixed: { cpu: "1" } },
      scheduling: { nodeSelector: { a: "b" }, tolerations: [{ key: "x", operator: "Exists" }] },
    });
    const made = await api.until(
      () => tried({ runtimeClassName: api.id }),
      ({ status }) => status === 201,
    );
    made.has("spec.overhead", { cpu: "1" }).has("spec.nodeSelector", { a: "b" });
    expect(made.at("spec.tolerations")).toContainEqual({ key: "x", operator: "Exists" });
    (await tried({ runtimeClassName: api.id, nodeSelector: { a: "c" } })).gives(403, {
      message: expect.stringContaining("conflict: runtimeClass.scheduling.nodeSelector[a] = b; pod.spec.nodeSelector[a] = c") as string,
    });
  },

  "an autoscaling/v1 autoscaler without a target scales by CPU, and its manager owns the default": async (api) => {
    const made = await api.created(HPAS("v1"), autoscaler("a"));
    made.has("spec.targetCPUUtilizationPercentage", 80);
    expect(made.at("metadata.managedFields.0.fieldsV1.f:spec")).toHaveProperty("f:targetCPUUtilizationPercentage");
  },

  "dataSource and dataSourceRef of a claim are copied to each other, and unsupported sources are dropped": async (api) => {
    const source = { kind: "PersistentVolumeClaim", name: "y" };
    const made = await api.post("persistentvolumeclaims?dryRun=All", claim("a", { dataSourceRef: source }));
    made.gives(201, { spec: { dataSource: source, dataSourceRef: source } });
    (await api.post("persistentvolumeclaims?dryRun=All", claim("a", { dataSourceRef: { ...source, namespace: "z" } })))
      .gives(201)
      .has("spec.dataSourceRef", undefined);
    (await api.post("persistentvolumeclaims?dryRun=All", claim("a", { dataSource: { kind: "Foo", apiGroup: "x.y", name: "y" } })))
      .gives(201)
      .has("spec.dataSource", undefined);
  },

  "every non-printable character of a field manager is reported": async (api) => {
    const problem = (code: string, at: number) =>
      `fieldManager: Invalid value: "a\\x00\\n": invalid character U+${code} (at position ${at})`;
    (await api.post("configmaps?fieldManager=a%00%0a", { metadata: { name: "a" } })).refuses(
      422,
      "Invalid",
      `CreateOptions.meta.k8s.io "" is invalid: [${problem("0000", 1)}, ${problem("000A", 2)}]`,
    );
  },

  "an empty namespace in a path means all namespaces for a list, and is an error otherwise": async (api) => {
    (await api.get("/api/v1/namespaces//limitranges")).gives(200, { kind: "LimitRangeList" });
    (await api.get("/api/v1/namespaces//configmaps/x")).refuses(400, "BadRequest", "Namespace parameter required.");
    (await api.post("/api/v1/namespaces//configmaps", { metadata: { name: "c" } })).refuses(
      422,
      "Invalid",
      'ConfigMap "c" is invalid: metadata.namespace: Required value',
    );
    (await api.get("/api/v1//configmaps")).gives(404, { kind: "Status" });
  },

  "a field selector without field and value selects everything": async (api) => {
    await api.created("podtemplates", { metadata: { name: "a" }, template: { spec: { containers: [{ name: "c", image: "i" }] } } });
    (await api.get("podtemplates?fieldSelector=%3D%3D")).gives(200, { items: [{ metadata: { name: "a" } }] });
    (await api.get("podtemplates?fieldSelector=metadata.name%3Da%3Db")).refuses(
      400,
      "BadRequest",
      "invalid field selector: unescaped character in value: 61",
    );
    (await api.get("batch/v1/jobs?fieldSelector=spec.x%3Da")).refuses(400, "BadRequest", 'field label "spec.x" not supported for Job');
  },

  "a continue token with an invalid start key is a bad request": async (api) => {
    const asked = async (token: string) => (await api.get(`configmaps?limit=1&continue=${token}`)).textAt("message");
    const says = (what: string) => `invalid continue token: continue key is not valid: ${what}`;
    expect(await asked("ab%3D")).toBe(says("illegal base64 data at input byte 2"));
    expect(await asked("e30")).toBe(says("server does not recognize this encoded version "));
    expect(await asked("eyJ9")).toBe(says("unexpected end of JSON input"));
    expect(await asked(Buffer.from('{"v":"meta.k8s.io/v1","rv":1,"start":""}').toString("base64url"))).toBe(
      says("encoded start key empty (version meta.k8s.io/v1)"),
    );
  },

  "group discovery accepts every method": async (api) => {
    (await api.post("/apis", {})).gives(200, { kind: "APIGroupList" });
    (await api.post("/apis/apps", {})).gives(200, { kind: "APIGroup" });
    (await api.post("/apis/apps/v1", {})).gives(405);
  },

  "delete options can be query parameters": async (api) => {
    await api.created("configmaps", { metadata: { name: "a" } });
    (await api.delete("configmaps/a?uid=x")).gives(409, {
      message: expect.stringContaining("the UID in the precondition (x) does not match the UID in record") as string,
    });
    (await api.delete("configmaps/a?resourceVersion=1")).gives(409);
    (await api.delete("configmaps/a?resourceVersion=")).gives(200);
  },

  "the warning about a Job's Pods is sent also when there is no Job": async (api) => {
    expect((await api.delete("batch/v1/jobs/no")).gives(404).warnings).toEqual([
      "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning",
    ]);
  },

  "a LimitRange needs no name": async (api) => {
    const made = await api.created("limitranges", { metadata: {}, spec: { limits: [] } });
    expect(made.textAt("metadata.name")).toMatch(/^[0-9a-f-]{36}$/);
  },

  "a resourceVersion that is 0 or not a number does not prevent a creation": async (api) => {
    (await api.post("configmaps", { metadata: { name: "a", resourceVersion: "0" } })).gives(201);
    (await api.post("configmaps", { metadata: { name: "b", resourceVersion: "x" } })).gives(201);
    (await api.post("configmaps", { metadata: { name: "c", resourceVersion: "5" } })).refuses(
      500,
      undefined,
      "resourceVersion should not be set on objects to be created",
    );
    (await api.apply("m", "configmaps/d", { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "d", resourceVersion: "x" } })).refuses(
      500,
      undefined,
      'strconv.ParseUint: parsing "x": invalid syntax',
    );
  },

  "all operations of a JSON patch are decoded before the first is applied": async (api) => {
    await api.created("configmaps", { metadata: { name: "a" } });
    (await api.jsonPatch("configmaps/a", [{ op: "add", path: 5 }])).refuses(
      400,
      "BadRequest",
      "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.path of type string",
    );
  },

  "a watch from a malformed resourceVersion is invalid": async (api) => {
    (await api.get("configmaps?watch=1&resourceVersion=abc")).refuses(
      500,
      undefined,
      'resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    );
  },
});
