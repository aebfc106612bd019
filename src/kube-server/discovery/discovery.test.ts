import { expect, test } from "vitest";
import { realServer } from "../rest/server.test-support.ts";
import { byPriority } from "./groups.ts";

const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

const legacy: readonly { url: string; want: object }[] = [
  { url: "/api", want: { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: [{ serverAddress: "127.0.0.1" }] } },
  { url: "/apis/apps", want: { kind: "APIGroup", name: "apps", preferredVersion: { groupVersion: "apps/v1" } } },
  { url: "/apis/autoscaling", want: { versions: [{ version: "v2" }, { version: "v1" }] } },
  { url: "/version", want: { major: "1", minor: "36", gitVersion: "v1.36.3" } },
  { url: "/version/", want: { major: "1" } },
  { url: "/", want: { paths: expect.arrayContaining(["/apis/apps/v1", "/version"]) } },
];

test.each(legacy)("GET $url", async ({ url, want }) => {
  const { ask } = realServer();
  expect(await ask("GET", url)).toMatchObject({ status: 200, body: want });
});

test("a resource list names kinds, verbs, short names and subresources", async () => {
  const { ask } = realServer();
  const core = (await ask("GET", "/api/v1")).body as { resources: readonly { name: string }[] };
  expect(core).not.toHaveProperty("apiVersion");
  expect(core.resources.find(({ name }) => name === "configmaps")).toMatchObject({
    kind: "ConfigMap",
    shortNames: ["cm"],
    storageVersionHash: "qFsyl6wFWjQ=",
  });
  expect(core.resources.find(({ name }) => name === "pods/eviction")).toMatchObject({ group: "policy", version: "v1", kind: "Eviction" });
  expect((await ask("GET", "/apis/apiextensions.k8s.io/v1")).body).toMatchObject({
    resources: [{ storageVersionHash: "jfWCUB31mvA=" }, {}],
  });
});

test("aggregated discovery returns all groups, and 304 for a known etag", async () => {
  const { ask } = realServer();
  const all = await ask("GET", "/apis", { headers: { accept: `${AGGREGATED},application/json` } });
  expect(all).toMatchObject({
    response: { headers: { "content-type": AGGREGATED } },
    body: { kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2" },
  });
  const core = await ask("GET", "/api", { headers: { accept: AGGREGATED } });
  expect(core.body).toMatchObject({ items: [{ metadata: {}, versions: [{ version: "v1", freshness: "Current" }] }] });
  const known = await ask("GET", "/apis", { headers: { accept: AGGREGATED, "if-none-match": all.response.headers["etag"] ?? "" } });
  expect(known.status).toBe(304);
});

test("an unsupported media type is a 406; a request without one gets the legacy form", async () => {
  const { ask } = realServer();
  expect(
    (await ask("GET", "/apis", { headers: { accept: "application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList" } })).status,
  ).toBe(406);
  expect((await ask("GET", "/apis", { headers: { accept: "" } })).body).toMatchObject({ kind: "APIGroupList" });
  expect((await ask("GET", "/apis", { headers: { accept: "text/html,*/*" } })).body).toMatchObject({ kind: "APIGroupList" });
});

test.each([
  { url: "/api/v9", status: 404 },
  { url: "/apis/apps/v9", status: 404 },
  { url: "/apis/nope", status: 404 },
  { url: "/version/x", status: 404 },
  { url: "/openapi", status: 404 },
  { url: "/openapi/v3/apis/nope/v1", status: 404 },
])("GET $url is $status", async ({ url, status }) => {
  const { ask } = realServer();
  expect((await ask("GET", url)).status).toBe(status);
});

test.each([
  { method: "POST", path: "/version", want: 405 },
  { method: "HEAD", path: "/api/v1", want: 405 },
  { method: "PUT", path: "/apis/apps/v1", want: 405 },
  { method: "DELETE", path: "/apis/apps", want: 200 },
  { method: "POST", path: "/apis", want: 200 },
  { method: "PATCH", path: "/", want: 200 },
  { method: "POST", path: "/openapi/v2", want: 200 },
  { method: "POST", path: "/apis/apps/v9", want: 404 },
  { method: "GET", path: "/openapi/v2/", want: 404 },
  { method: "GET", path: "/healthz/", want: 404 },
  { method: "GET", path: "//api/v1", want: 404 },
])("$method $path is answered as a real server does: $want", async ({ method, path, want }) => {
  const { ask } = realServer();
  expect((await ask(method, path)).status).toBe(want);
});

const health: readonly { url: string; status: number; want: unknown }[] = [
  { url: "/healthz", status: 200, want: "ok" },
  { url: "/livez/ping", status: 200, want: "ok" },
  {
    url: "/readyz?verbose",
    status: 200,
    want: "[+]ping ok\n[+]log ok\n[+]etcd ok\n[+]informer-sync ok\n[+]shutdown ok\nreadyz check passed\n",
  },
  { url: "/livez?verbose&exclude=etcd", status: 200, want: "[+]ping ok\n[+]log ok\nlivez check passed\n" },
  { url: "/healthz/nope", status: 404, want: "404 page not found\n" },
];

test.each(health)("GET $url", async ({ url, status, want }) => {
  const { ask } = realServer();
  expect(await ask("GET", url)).toMatchObject({ status, body: want });
});

test("the addresses of OpenAPI documents change with their content", async () => {
  const { ask } = realServer();
  const index = JSON.parse((await ask("GET", "/openapi/v3")).body as string) as { paths: Record<string, { serverRelativeURL: string }> };
  const { serverRelativeURL = "" } = index.paths["apis/apps/v1"] ?? {};
  const document = await ask("GET", serverRelativeURL);
  expect(document).toMatchObject({
    status: 200,
    body: { openapi: "3.0.0", components: { schemas: { "io.k8s.api.apps.v1.Deployment": { type: "object" } } } },
  });
  const etag = document.response.headers["etag"] ?? "";
  expect((await ask("GET", serverRelativeURL, { headers: { "if-none-match": etag } })).status).toBe(304);
  const moved = await ask("GET", "/openapi/v3/apis/apps/v1?hash=OLD");
  expect(moved).toMatchObject({ status: 301, response: { headers: { location: serverRelativeURL } } });
  expect((await ask("GET", "/openapi/v3/version")).status).toBe(200);
});

test("paths have the kind and the parameters that kubectl reads", async () => {
  const { ask } = realServer();
  const { paths } = (await ask("GET", "/openapi/v3/apis/apps/v1")).body as {
    paths: Record<string, Record<string, Record<string, unknown>>>;
  };
  const patch = paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]?.["patch"];
  expect(patch).toMatchObject({ "x-kubernetes-group-version-kind": { group: "apps", version: "v1", kind: "Deployment" } });
  expect(JSON.stringify(patch)).toContain("fieldValidation");
  expect(paths["/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale"]?.["get"]).toMatchObject({
    "x-kubernetes-group-version-kind": { kind: "Scale" },
  });
});

test("OpenAPI v2 has definitions instead of components", async () => {
  const { ask } = realServer();
  const { definitions, swagger } = (await ask("GET", "/openapi/v2")).body as {
    swagger: string;
    definitions: Record<string, { properties: Record<string, unknown> }>;
  };
  expect(swagger).toBe("2.0");
  expect(definitions["io.k8s.api.apps.v1.Deployment"]?.properties["spec"]).toEqual({
    $ref: "#/definitions/io.k8s.api.apps.v1.DeploymentSpec",
  });
});

test("OpenAPI v2 in protobuf has its own etag", async () => {
  const { ask } = realServer();
  const accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
  const { response } = await ask("GET", "/openapi/v2", { headers: { accept } });
  const etag = response.headers["etag"] ?? "";
  expect(response).toMatchObject({ status: 200, body: { kind: "bytes" }, headers: { "content-type": accept.replace("@", ".") } });
  expect(etag).not.toBe((await ask("GET", "/openapi/v2")).response.headers["etag"]);
  const again = await ask("GET", "/openapi/v2", { headers: { accept, "if-none-match": etag } });
  expect(again.response).toMatchObject({ status: 304, body: { kind: "none" } });
});

test("versions are sorted by the priority that Kubernetes defines", () => {
  const given = ["v1alpha1", "foo1", "v1", "v10", "v2beta1", "v11beta2", "v2", "bar", "v3beta1"];
  expect(given.toSorted(byPriority)).toEqual(["v10", "v2", "v1", "v11beta2", "v3beta1", "v2beta1", "v1alpha1", "bar", "foo1"]);
});
