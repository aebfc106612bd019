/** The plugin in a server: the defaults of containers, and the messages of refused pods and claims. */
import { describe, expect, it } from "vitest";
import { fieldAt, type Json } from "#kube";
import { realServer, type TestServer } from "../../rest/server.test-support.ts";
import { limitRanger } from "./index.ts";

const PATH = "/api/v1/namespaces/default";

async function serverWith(...limits: readonly Json[]): Promise<TestServer> {
  const running = realServer({ admission: (context) => [limitRanger(context)] });
  const body = { apiVersion: "v1", kind: "LimitRange", metadata: { name: "l" }, spec: { limits } };
  expect((await running.ask("POST", `${PATH}/limitranges`, { body })).status).toBe(201);
  return running;
}

const container = (name: string, resources: Json = {}): Json => ({ name, image: "i", resources });

function pod(containers: readonly Json[], spec: object = {}): Json {
  return { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec: { containers, ...spec } };
}

const defaults = { type: "Container", default: { cpu: "500m", memory: "1Gi" }, defaultRequest: { cpu: "100m" } };

describe("defaults of a LimitRange", () => {
  it("are set in containers without resources, and an annotation lists them", async () => {
    const { ask } = await serverWith(defaults);
    const given = pod([container("a"), container("b", { requests: { cpu: "1" }, limits: { cpu: "1", memory: "5Mi" } })], {
      initContainers: [container("i", { limits: { cpu: "2" } })],
    });
    const { body } = await ask("POST", `${PATH}/pods`, { body: given });
    expect(fieldAt(body, "metadata", "annotations")).toEqual({
      "kubernetes.io/limit-ranger":
        "LimitRanger plugin set: cpu, memory request for container a; cpu, memory limit for container a; memory request for init container i; memory limit for init container i",
    });
    const containers = fieldAt(body, "spec", "containers") as readonly Json[];
    expect(containers.map((one) => fieldAt(one, "resources"))).toEqual([
      { limits: { cpu: "500m", memory: "1Gi" }, requests: { cpu: "100m", memory: "1Gi" } },
      { limits: { cpu: "1", memory: "5Mi" }, requests: { cpu: "1", memory: "5Mi" } },
    ]);
  });

  it("change nothing in containers with resources, and nothing in an update", async () => {
    const { ask } = await serverWith(defaults, { type: "Pod" });
    const all = { requests: { cpu: "1", memory: "1" }, limits: { cpu: "1", memory: "1" } };
    const { body } = await ask("POST", `${PATH}/pods`, { body: pod([container("a", all)]) });
    expect(fieldAt(body, "metadata", "annotations")).toBeUndefined();
    const patch = { metadata: { labels: { a: "b" } } };
    expect((await ask("PATCH", `${PATH}/pods/p`, { body: patch, type: "application/merge-patch+json" })).status).toBe(200);
  });
});

describe("limits of a LimitRange", () => {
  const forbids = (why: string) => `pods "p" is forbidden: ${why}`;
  it.each([
    {
      name: "less than the minimum",
      limit: { type: "Container", min: { cpu: "100m" } },
      given: pod([container("a", { requests: { cpu: "50m" } })]),
      want: forbids("minimum cpu usage per Container is 100m, but request is 50m"),
    },
    {
      name: "no request where there is a minimum",
      limit: { type: "Pod", min: { cpu: "100m" } },
      given: pod([container("a")]),
      want: forbids("minimum cpu usage per Pod is 100m.  No request is specified"),
    },
    {
      name: "a limit below the minimum",
      limit: { type: "Pod", min: { memory: "100" } },
      given: pod([container("a")], { resources: { requests: { memory: "150" }, limits: { memory: "200" } } }),
      want: undefined,
    },
    {
      name: "more than the maximum",
      limit: { type: "Container", max: { memory: "1Gi" } },
      given: pod([container("a", { limits: { memory: "2Gi" } })]),
      want: forbids("maximum memory usage per Container is 1Gi, but limit is 2Gi"),
    },
    {
      name: "no limit where there is a maximum",
      limit: { type: "Pod", max: { memory: "1Gi" } },
      given: pod([container("a", { requests: { memory: "2Gi" } })]),
      want: forbids("maximum memory usage per Pod is 1Gi.  No limit is specified"),
    },
    {
      name: "a limit too far above the request",
      limit: { type: "Container", maxLimitRequestRatio: { cpu: "2" } },
      given: pod([container("a", { requests: { cpu: "300m" }, limits: { cpu: "1" } })]),
      want: forbids("cpu max limit to request ratio per Container is 2, but provided ratio is 3.333333"),
    },
    {
      name: "no request where a ratio needs one",
      limit: { type: "Container", maxLimitRequestRatio: { cpu: "2" } },
      given: pod([container("a")]),
      want: forbids("cpu max limit to request ratio per Container is 2, but no request is specified or request is 0"),
    },
    {
      name: "no limit where a ratio needs one",
      limit: { type: "Container", maxLimitRequestRatio: { cpu: "2" } },
      given: pod([container("a", { requests: { cpu: "1" } })]),
      want: forbids("cpu max limit to request ratio per Container is 2, but no limit is specified or limit is 0"),
    },
    {
      name: "several things at once, each once",
      limit: { type: "Container", max: { cpu: "1" }, maxLimitRequestRatio: { cpu: "1" } },
      given: pod([container("a", { limits: { cpu: "2" } }), container("b", { requests: { cpu: "1" }, limits: { cpu: "2" } })]),
      want: forbids(
        "[maximum cpu usage per Container is 1, but limit is 2, cpu max limit to request ratio per Container is 1, but provided ratio is 2.000000]",
      ),
    },
    {
      name: "no pod within the limits",
      limit: { type: "Pod", max: { cpu: "1" }, min: { cpu: "1" }, maxLimitRequestRatio: { cpu: "1" } },
      given: pod([container("a", { limits: { cpu: "1" } })]),
      want: undefined,
    },
  ])("refuse $name", async ({ limit, given, want }) => {
    const { ask } = await serverWith(limit);
    expect(fieldAt((await ask("POST", `${PATH}/pods`, { body: given })).body, "message")).toBe(want);
  });

  const claim = (storage: string): Json => ({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "c" },
    spec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage } } },
  });
  it.each([
    { given: "500Mi", want: "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi" },
    { given: "10Gi", want: "maximum storage usage per PersistentVolumeClaim is 5Gi, but request is 10Gi" },
    { given: "2Gi", want: undefined },
  ])("hold for claims of $given", async ({ given, want }) => {
    const { ask } = await serverWith({ type: "PersistentVolumeClaim", min: { storage: "1Gi" }, max: { storage: "5Gi" } });
    const { body } = await ask("POST", `${PATH}/persistentvolumeclaims`, { body: claim(given) });
    expect(fieldAt(body, "message")).toBe(want === undefined ? undefined : `persistentvolumeclaims "c" is forbidden: ${want}`);
  });

  it("report a claim without a request", async () => {
    const { ask } = await serverWith({ type: "PersistentVolumeClaim", max: { storage: "5Gi", "example.com/x": "1" } });
    const { body } = await ask("POST", `${PATH}/persistentvolumeclaims`, { body: claim("1Gi") });
    expect(fieldAt(body, "message")).toContain("maximum example.com/x usage per PersistentVolumeClaim is 1.  No request is specified");
  });

  it("ignore pods that are being deleted, and other kinds", async () => {
    const { ask } = await serverWith({ type: "PersistentVolumeClaim", min: { storage: "1Gi" } });
    const configMap = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "c" } };
    expect((await ask("POST", `${PATH}/configmaps`, { body: configMap })).status).toBe(201);
    const held = { ...(claim("1Gi") as object), metadata: { name: "c", finalizers: ["example.com/x"] } };
    await ask("POST", `${PATH}/persistentvolumeclaims`, { body: held });
    await ask("DELETE", `${PATH}/persistentvolumeclaims/c`);
    await ask("PUT", `${PATH}/limitranges/l`, {
      body: {
        apiVersion: "v1",
        kind: "LimitRange",
        metadata: { name: "l" },
        spec: { limits: [{ type: "PersistentVolumeClaim", min: { storage: "2Gi" } }] },
      },
    });
    const patch = { metadata: { finalizers: [] } };
    const path = `${PATH}/persistentvolumeclaims/c`;
    expect((await ask("PATCH", path, { body: patch, type: "application/merge-patch+json" })).status).toBe(200);
  });
});
