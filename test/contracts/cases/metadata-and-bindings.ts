/** How often metadata is validated, budgets and bindings, continue tokens of pages, and how errors quote objects. */
import { expect } from "vitest";
import type { Api } from "../client/api.ts";
import { area } from "../contract.ts";
import { configMap, pod, podTemplate, service } from "./objects.ts";

const WRONG = { metadata: { labels: { "bad key": "x" }, finalizers: ["x"] } };
const TABLE = { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" };
const META = { accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io" };

async function reportedErrors(api: Api, path: string): Promise<string> {
  const causes = (await api.mergePatch(path, WRONG)).at("details.causes") as readonly { readonly field: string }[];
  return causes.map(({ field }) => (field === "metadata.labels" ? "L" : "F")).join("");
}

export const metadataAndBindings = area("metadata and bindings", {
  "how often invalid metadata is reported on an update depends on the kind": async (api) => {
    const lease = { metadata: { name: "a" }, spec: { holderIdentity: "h" } };
    const budget = { metadata: { name: "a" }, spec: { minAvailable: 1, selector: { matchLabels: { app: "none" } } } };
    const revision = { metadata: { name: "a" }, revision: 1, data: {} };
    const limits = { metadata: { name: "a" }, spec: { limits: [{ type: "Pod", max: { cpu: "1" } }] } };
    for (const [collection, body, want] of [
      ["services", service("a"), "LLLF"],
      ["pods", pod("a"), "LLLFLF"],
      ["limitranges", limits, "LLLF"],
      ["apps/v1/controllerrevisions", revision, "LLLFLF"],
      ["coordination.k8s.io/v1/leases", lease, "LLL"],
      ["policy/v1/poddisruptionbudgets", budget, "LL"],
    ] as const) {
      await api.created(collection, body);
      expect([collection, await reportedErrors(api, `${collection}/a`)]).toEqual([collection, want]);
    }
  },

  "a full page has a continue token, whatever the selector": async (api) => {
    await api.created("configmaps", configMap("a", {}, { labels: { l: "1" } }));
    await api.created("configmaps", configMap("b"));
    const more = (await api.get("configmaps?limit=1&labelSelector=l%3D1")).gives(200).textAt("metadata.continue");
    expect(more).not.toBe("");
    const next = await api.get(`configmaps?limit=1&labelSelector=l%3D1&continue=${more}`);
    next.gives(200, { items: [] });
  },

  "a limit with a resourceVersion and no match reads exactly that version": async (api) => {
    const first = (await api.created("configmaps", configMap("x1", {}, { labels: { own: "y" } }))).textAt("metadata.resourceVersion");
    await api.created("configmaps", configMap("x2", {}, { labels: { own: "y" } }));
    const listed = await api.get(`configmaps?limit=5&labelSelector=own%3Dy&resourceVersion=${first}`);
    expect(listed.gives(200).at("items")).toHaveLength(1);
  },

  "an empty Table of a kind without columns has null rows": async (api) => {
    (await api.get("limitranges?fieldSelector=metadata.name%3Dnone", TABLE)).gives(200, { rows: null });
    (await api.get("configmaps?fieldSelector=metadata.name%3Dnone", TABLE)).gives(200, { rows: [] });
  },

  "the deprecated generation annotation of a DaemonSet is not in its PartialObjectMetadata": async (api) => {
    const template = { metadata: { labels: { app: "d" } }, spec: { containers: [{ name: "c", image: "example.test/c:1" }] } };
    const daemons = { metadata: { name: "d" }, spec: { selector: { matchLabels: { app: "d" } }, template } };
    await api.created("apps/v1/daemonsets", daemons);
    const annotations = async (headers = {}) => (await api.get("apps/v1/daemonsets/d", headers)).gives(200).at("metadata.annotations");
    expect(await annotations()).toEqual({ "deprecated.daemonset.template.generation": "1" });
    expect(await annotations(META)).toBeUndefined();
  },

  "the error of a rejected patch quotes the object as Go prints it": async (api) => {
    await api.created("podtemplates", podTemplate("p", { dnsPolicy: "ClusterFirst", restartPolicy: "Always" }));
    const message = (await api.mergePatch("podtemplates/p?fieldValidation=Strict", { zz: 1, spec: { y: 1 } })).textAt("message");
    expect(message).toContain('\\"restartPolicy\\":\\"Always\\",\\"terminationGracePeriodSeconds\\":30,\\"dnsPolicy\\":\\"ClusterFirst\\"');
    expect(message).toContain('strict decoding error: unknown field "spec", unknown field "zz"');
  },

  "a duplicate unknown field is reported as unknown only": async (api) => {
    const text = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"zz":1,"zz":2,"data":{"a":"1","a":"2"}}';
    (await api.post("configmaps?fieldValidation=Strict", text)).refuses(
      400,
      "BadRequest",
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "zz", duplicate field "data.a"',
    );
  },

  "discovery supports YAML, and rejects Table and HTML": async (api) => {
    expect((await api.get("/apis/apps", { accept: "application/yaml" })).text).toContain("kind: APIGroup\nname: apps\n");
    const only = "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf";
    (await api.get("/apis/apps/v1", TABLE)).refuses(406, "NotAcceptable", only);
    (await api.get("/apis", TABLE)).refuses(406, "NotAcceptable", only);
    (await api.get("/api/v1", { accept: "text/html" })).refuses(
      406,
      "NotAcceptable",
      "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    );
  },

  "an ephemeral container needs a unique name and an existing target, and has no ports": async (api) => {
    await api.created("pods", pod("p"));
    const visit = (container: object) => api.strategicPatch("pods/p/ephemeralcontainers", { spec: { ephemeralContainers: [container] } });
    (await visit({ name: "web", image: "i" })).refuses(
      422,
      "Invalid",
      'Pod "p" is invalid: spec.ephemeralContainers[0].name: Duplicate value: "web"',
    );
    (await visit({ name: "v", image: "i", ports: [{ containerPort: 80 }] })).refuses(
      422,
      "Invalid",
      'Pod "p" is invalid: spec.ephemeralContainers[0].ports: Forbidden: cannot be set for an Ephemeral Container',
    );
    (await visit({ name: "v", image: "i", targetContainerName: "none" })).refuses(
      422,
      "Invalid",
      'Pod "p" is invalid: spec.ephemeralContainers[0].targetContainerName: Not found: "none"',
    );
    (await visit({ name: "v", image: "i", targetContainerName: "web" })).gives(200);
  },

  "a Binding adds labels to its Pod, and a Pod with scheduling gates cannot be bound": async (api) => {
    const target = { kind: "Node", name: `none-${api.id}` };
    await api.created("pods", pod("gated", { schedulingGates: [{ name: "a.test/b" }] }));
    (await api.post("pods/gated/binding", { metadata: { name: "gated" }, target })).refuses(
      409,
      "Conflict",
      'Operation cannot be fulfilled on pods/binding "gated": pod gated has non-empty .spec.schedulingGates',
    );
    (await api.strategicPatch("pods/gated", { spec: { schedulingGates: [{ name: "c" }] } })).refuses(
      422,
      "Invalid",
      "Pod \"gated\" is invalid: spec.schedulingGates[0].name: Forbidden: only deletion is allowed, but found new scheduling gate 'c'",
    );
    await api.created("pods", pod("free"));
    (await api.post("pods/free/binding", { metadata: { name: "free", labels: { l: "1" }, annotations: { a: "1" } }, target })).gives(201);
    (await api.get("pods/free")).gives(200, { metadata: { labels: { l: "1" }, annotations: { a: "1" } } });
  },

  "a namespace with a generated name has the name in its label": async (api) => {
    const name = `generated-${api.id}-`;
    const made = await api.post("/api/v1/namespaces?dryRun=All", { metadata: { generateName: name } });
    expect(made.at("metadata.labels")).toEqual({ "kubernetes.io/metadata.name": made.textAt("metadata.name") });
  },

  "externalName of a ClusterIP Service returns a warning, and a node port out of range is rejected": async (api) => {
    const both = service("a", { externalName: "x.test" });
    expect((await api.created("services", both)).warnings).toEqual(['spec.externalName is ignored when spec.type is not "ExternalName"']);
    (await api.mergePatch("services/a", { spec: { type: "NodePort", ports: [{ port: 80, nodePort: 80 }] } })).refuses(
      422,
      "Invalid",
      'Service "a" is invalid: spec.ports[0].nodePort: Invalid value: 80: provided port is not in the valid range. The range of valid ports is 30000-32767',
    );
  },

  "the apiVersion of an owner reference has at most one slash": async (api) => {
    const ownerReferences = [{ apiVersion: "a/b/c", kind: "X", name: "x", uid: "1" }];
    const refused = await api.post("configmaps", configMap("a", {}, { ownerReferences }));
    refused.refuses(
      422,
      "Invalid",
      'ConfigMap "a" is invalid: metadata.ownerReferences.apiVersion: Invalid value: "a/b/c": version must not be empty',
    );
  },

  "system priority classes cannot be deleted": async (api) => {
    const why = "this is a system priority class and cannot be deleted";
    const message = `priorityclasses.scheduling.k8s.io "system-node-critical" is forbidden: ${why}`;
    (await api.delete("/apis/scheduling.k8s.io/v1/priorityclasses/system-node-critical")).refuses(403, "Forbidden", message);
  },

  "a definition in a removed version is rejected with the version": async (api) => {
    const old = { apiVersion: "apiextensions.k8s.io/v1beta1", kind: "CustomResourceDefinition", metadata: { name: "a.b.c" } };
    const refused = await api.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", old);
    expect(refused.gives(400).textAt("message")).toBe(
      "the API version in the data (apiextensions.k8s.io/v1beta1) does not match the expected API version (apiextensions.k8s.io/v1)",
    );
  },

  "the grace period of a terminating Pod cannot be extended": async (api) => {
    const held = pod("a", { nodeName: "nowhere" });
    await api.created("pods", { ...held, metadata: { name: "a", finalizers: ["example.com/held"] } });
    (await api.delete("pods/a", { gracePeriodSeconds: 0 })).gives(200).has("metadata.deletionGracePeriodSeconds", 0);
    (await api.delete("pods/a", { gracePeriodSeconds: 5 })).gives(200).has("metadata.deletionGracePeriodSeconds", 0);
    (await api.mergePatch("pods/a", { metadata: { finalizers: null } })).gives(200);
    (await api.get("pods/a")).gives(404);
  },

  "deleting a collection at a version deletes the objects of that version": async (api) => {
    const before = (await api.created("configmaps", configMap("c1", {}, { labels: { own: "c" } }))).textAt("metadata.resourceVersion");
    await api.delete("configmaps/c1");
    await api.created("configmaps", configMap("c2", {}, { labels: { own: "c" } }));
    const deleted = await api.delete(`configmaps?labelSelector=own%3Dc&resourceVersion=${before}`);
    expect(deleted.gives(200).at("items")).toHaveLength(1);
    (await api.get("configmaps/c2")).gives(200);
  },
});
