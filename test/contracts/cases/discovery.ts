/** Discovery, version, health and OpenAPI. */
import { expect } from "vitest";
import { area } from "../contract.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

type Resource = {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
};

export const discovery = area("discovery and OpenAPI", {
  "the core group has one version": async (api) => {
    (await api.get("/api")).gives(200, { kind: "APIVersions", versions: ["v1"] });
  },

  "groups are listed with their preferred version": async (api) => {
    const groups = (await api.get("/apis")).gives(200, { kind: "APIGroupList", apiVersion: "v1" }).at("groups") as readonly {
      name: string;
      preferredVersion: { version: string };
    }[];
    const preferred = Object.fromEntries(groups.map(({ name, preferredVersion }) => [name, preferredVersion.version]));
    expect(preferred).toMatchObject({
      apps: "v1",
      autoscaling: "v2",
      batch: "v1",
      "rbac.authorization.k8s.io": "v1",
      "apiextensions.k8s.io": "v1",
      "admissionregistration.k8s.io": "v1",
    });
  },

  "the resources of a version have verbs, scope and short names": async (api) => {
    const resources = (await api.get("/apis/apps/v1"))
      .gives(200, { kind: "APIResourceList", groupVersion: "apps/v1" })
      .at("resources") as readonly Resource[];
    const deployments = resources.find(({ name }) => name === "deployments");
    expect(deployments).toMatchObject({
      kind: "Deployment",
      namespaced: true,
      shortNames: ["deploy"],
      verbs: ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
    });
    expect(resources.find(({ name }) => name === "deployments/scale")).toMatchObject({
      kind: "Scale",
      group: "autoscaling",
      version: "v1",
      verbs: ["get", "patch", "update"],
    });
  },

  "aggregated discovery is a single document": async (api) => {
    const answer = await api.get("/apis", { accept: AGGREGATED });
    expect(answer.contentType).toBe(AGGREGATED);
    answer.gives(200, { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2" });
    const again = await api.get("/apis", { accept: AGGREGATED, "if-none-match": answer.headers["etag"]?.[0] ?? "" });
    expect([200, 304]).toContain(again.status);
  },

  "a definition appears in discovery with its subresources and categories": async (api) => {
    const group = `${api.id}.contracts.test`;
    const schema = {
      openAPIV3Schema: {
        type: "object",
        properties: {
          spec: { type: "object", properties: { replicas: { type: "integer" } } },
          status: { type: "object", properties: { replicas: { type: "integer" } } },
        },
      },
    };
    const subresources = { status: {}, scale: { specReplicasPath: ".spec.replicas", statusReplicasPath: ".status.replicas" } };
    await api.created("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: "Cluster",
        names: { plural: "things", kind: "Thing", shortNames: ["th"], categories: ["all"] },
        versions: [{ name: "v1", served: true, storage: true, schema, subresources }],
      },
    });
    const answer = await api.until(
      () => api.get(`/apis/${group}/v1`),
      ({ status }) => status === 200,
    );
    const resources = answer.at("resources") as readonly Resource[];
    expect(resources.map(({ name, kind, namespaced }) => `${name} ${kind} ${namespaced}`)).toEqual([
      "things Thing false",
      "things/status Thing false",
      "things/scale Scale false",
    ]);
    expect(resources[0]).toMatchObject({
      singularName: "thing",
      shortNames: ["th"],
      categories: ["all"],
      verbs: ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
    });
    (await api.get(`/apis/${group}`)).gives(200, {
      kind: "APIGroup",
      name: group,
      versions: [{ groupVersion: `${group}/v1`, version: "v1" }],
      preferredVersion: { version: "v1" },
    });
  },

  "an unknown group is a plain 404 page; an unknown resource is a Status": async (api) => {
    const group = await api.get("/apis/no.such.group/v1/things");
    expect([group.status, group.contentType, group.text]).toEqual([404, "text/plain; charset=utf-8", "404 page not found\n"]);
    (await api.get("/apis/apps/v1/nonsense")).refuses(404, "NotFound", "the server could not find the requested resource");
    (await api.get("/apis/apps/v7")).gives(404);
    expect((await api.get("/nowhere")).status).toBe(404);
  },

  "/version returns a Kubernetes version": async (api) => {
    (await api.get("/version")).gives(200, { major: "1", minor: "36", gitVersion: expect.stringMatching(/^v1\.36\./) });
  },

  "health checks return ok as text": async (api) => {
    for (const path of ["/healthz", "/livez", "/readyz"]) {
      const answer = await api.get(path);
      expect([answer.status, answer.text]).toEqual([200, "ok"]);
    }
    expect((await api.get("/readyz?verbose")).text).toContain("readyz check passed\n");
    expect((await api.get("/livez/ping")).text).toBe("ok");
  },

  "OpenAPI v3 has a document per group and version": async (api) => {
    const index = (await api.get("/openapi/v3")).gives(200);
    const paths = index.at("paths") as Readonly<Record<string, { serverRelativeURL: string }>>;
    expect(Object.keys(paths)).toEqual(expect.arrayContaining(["api/v1", "apis/apps/v1", "version", "apis"]));
    expect(paths["apis/apps/v1"]?.serverRelativeURL).toMatch(/^\/openapi\/v3\/apis\/apps\/v1\?hash=[0-9A-F]+$/);
    const document = await api.get(paths["apis/apps/v1"]?.serverRelativeURL ?? "");
    document.gives(200, { openapi: "3.0.0" });
    const schema = document.at("components", "schemas", "io.k8s.api.apps.v1.Deployment");
    expect(schema).toMatchObject({
      type: "object",
      "x-kubernetes-group-version-kind": [{ group: "apps", kind: "Deployment", version: "v1" }],
    });
  },

  "OpenAPI v2 is a single document": async (api) => {
    const answer = await api.get("/openapi/v2");
    answer.gives(200, { swagger: "2.0" });
    expect(answer.at("definitions", "io.k8s.api.core.v1.Pod")).toMatchObject({ type: "object" });
  },

  "the schema of a definition appears in OpenAPI": async (api) => {
    const group = `${api.id}.contracts.test`;
    const schema = {
      openAPIV3Schema: {
        type: "object",
        description: "A thing.",
        properties: { spec: { type: "object", properties: { size: { type: "integer", minimum: 1 } } } },
      },
    };
    await api.created("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
      metadata: { name: `things.${group}` },
      spec: {
        group,
        scope: "Namespaced",
        names: { plural: "things", kind: "Thing" },
        versions: [{ name: "v1", served: true, storage: true, schema }],
      },
    });
    const document = await api.until(
      () => api.get(`/openapi/v3/apis/${group}/v1`),
      ({ status }) => status === 200,
    );
    const name = `${group.split(".").toReversed().join(".")}.v1.Thing`;
    expect(document.at("components", "schemas", name)).toMatchObject({
      description: "A thing.",
      properties: { spec: { properties: { size: { type: "integer", minimum: 1 } } } },
      "x-kubernetes-group-version-kind": [{ group, kind: "Thing", version: "v1" }],
    });
  },

  "the root lists paths": async (api) => {
    const paths = (await api.get("/")).gives(200).at("paths") as readonly string[];
    expect(paths).toEqual(
      expect.arrayContaining([
        "/api",
        "/api/v1",
        "/apis",
        "/apis/apps",
        "/apis/apps/v1",
        "/healthz",
        "/openapi/v2",
        "/openapi/v3",
        "/version",
      ]),
    );
  },

  "the discovery document of a group lists its versions and the preferred one": async (api) => {
    (await api.get("/apis/autoscaling")).gives(200, {
      kind: "APIGroup",
      name: "autoscaling",
      versions: [{ version: "v2" }, { version: "v1" }],
      preferredVersion: { groupVersion: "autoscaling/v2" },
    });
  },
});
