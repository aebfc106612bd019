/** Create, read, replace: responses, and the fields that the server sets. */
import { expect } from "vitest";
import { area } from "../contract.ts";
import { configMap, deployment, podTemplate } from "./objects.ts";

export const crud = area("crud", {
  "a created object has a uid, a version and a time, and the response is the stored object": async (api) => {
    const made = await api.created("configmaps", configMap("a", { x: "1" }));
    made.gives(201, { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a", namespace: api.namespace }, data: { x: "1" } });
    expect(made.textAt("metadata.uid")).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(made.textAt("metadata.creationTimestamp")).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    expect((await api.get("configmaps/a")).body).toEqual(made.body);
  },

  "metadata that the server owns is ignored in a creation": async (api) => {
    const uid = "11111111-1111-4111-8111-111111111111";
    const metadata = { name: "a", uid, creationTimestamp: "2001-01-01T00:00:00Z", selfLink: "/somewhere", generation: 7 };
    const made = await api.created("configmaps", { metadata });
    made.has("metadata.selfLink", undefined);
    expect(made.textAt("metadata.uid")).not.toBe(uid);
    expect(made.textAt("metadata.creationTimestamp")).not.toContain("2001");
  },

  "a creation cannot set a deletion timestamp": async (api) => {
    const metadata = { name: "a", deletionTimestamp: "2001-01-01T00:00:00Z", deletionGracePeriodSeconds: 5 };
    const made = await api.created("configmaps", { metadata });
    made.has("metadata.deletionTimestamp", undefined).has("metadata.deletionGracePeriodSeconds", undefined);
  },

  "kinds with a spec start at generation 1, whatever the client sends": async (api) => {
    const made = await api.created("apps/v1/deployments", { ...deployment("a", { replicas: 0 }), metadata: { name: "a", generation: 9 } });
    made.has("metadata.generation", 1);
  },

  "the generation counts changes of the spec only": async (api) => {
    await api.created("policy/v1/poddisruptionbudgets", { metadata: { name: "a" }, spec: { minAvailable: 1, selector: {} } });
    (await api.mergePatch("policy/v1/poddisruptionbudgets/a", { metadata: { labels: { l: "1" } } })).has("metadata.generation", 1);
    (await api.mergePatch("policy/v1/poddisruptionbudgets/a", { spec: { minAvailable: 2 } })).has("metadata.generation", 2);
  },

  "POST without kind and apiVersion creates the kind of the path": async (api) => {
    (await api.post("configmaps", { metadata: { name: "a" } })).gives(201, { kind: "ConfigMap", apiVersion: "v1" });
  },

  "POST of an empty object lacks only its name": async (api) => {
    (await api.post("configmaps", {})).refuses(
      422,
      "Invalid",
      'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required',
      {
        causes: [["FieldValueRequired", "metadata.name", "Required value: name or generateName is required"]],
        details: { kind: "ConfigMap" },
      },
    );
  },

  "POST with a resourceVersion is a server error": async (api) => {
    (await api.post("configmaps", { metadata: { name: "a", resourceVersion: "1" } })).refuses(
      500,
      undefined,
      "resourceVersion should not be set on objects to be created",
    );
  },

  "POST of another kind is a bad request": async (api) => {
    (await api.post("configmaps", { apiVersion: "v1", kind: "Secret", metadata: { name: "a" } })).refuses(
      400,
      "BadRequest",
      'Secret in version "v1" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion',
    );
  },

  "POST of an unknown version of a kind is a bad request": async (api) => {
    (await api.post("apps/v1/deployments", { ...deployment("a"), apiVersion: "apps/v7", kind: "Deployment" })).refuses(
      400,
      "BadRequest",
      'Deployment in version "v7" cannot be handled as a Deployment: no kind "Deployment" is registered for version "apps/v7" in scheme "pkg/runtime/scheme.go:111"',
    );
  },

  "POST with another namespace than the path's is a bad request": async (api) => {
    (await api.post("configmaps", { metadata: { name: "a", namespace: "default" } })).refuses(
      400,
      "BadRequest",
      "the namespace of the provided object does not match the namespace sent on the request",
    );
  },

  "POST of a cluster-scoped kind ignores a namespace": async (api) => {
    const made = await api.post("/api/v1/namespaces", { metadata: { name: `n-${api.id}`, namespace: api.namespace } });
    made.gives(201).has("metadata.namespace", undefined);
  },

  "POST into a missing namespace is a 404 of the namespace": async (api) => {
    (await api.post(`/api/v1/namespaces/no-${api.id}/configmaps`, configMap("a"))).refuses(
      404,
      "NotFound",
      `namespaces "no-${api.id}" not found`,
      {
        details: { name: `no-${api.id}`, kind: "namespaces" },
      },
    );
  },

  "POST of a namespaced kind to a path without a namespace is not allowed": async (api) => {
    (await api.post("/api/v1/configmaps", configMap("a"))).refuses(
      405,
      "MethodNotAllowed",
      "the server does not allow this method on the requested resource",
    );
  },

  "PUT with another name than the path's is a bad request": async (api) => {
    await api.created("configmaps", configMap("a"));
    (await api.put("configmaps/a", configMap("b"))).refuses(
      400,
      "BadRequest",
      "the name of the object (b) does not match the name on the URL (a)",
    );
    (await api.put("configmaps/a", {})).refuses(
      400,
      "BadRequest",
      "the name of the object (a based on URL) was undeterminable: name must be provided",
    );
  },

  "PUT of a missing ConfigMap is a 404, of a missing Lease a creation": async (api) => {
    (await api.put("configmaps/a", configMap("a"))).refuses(404, "NotFound", 'configmaps "a" not found', {
      details: { name: "a", kind: "configmaps" },
    });
    (await api.put("coordination.k8s.io/v1/leases/a", { metadata: { name: "a" }, spec: { holderIdentity: "me" } })).gives(201, {
      spec: { holderIdentity: "me" },
    });
  },

  "PUT removes the fields that it omits": async (api) => {
    await api.created("configmaps", configMap("a", { x: "1" }, { labels: { l: "1" }, annotations: { n: "1" } }));
    const put = await api.put("configmaps/a", configMap("a", { y: "2" }));
    put.gives(200).has("data", { y: "2" }).has("metadata.labels", undefined).has("metadata.annotations", undefined);
  },

  "PUT cannot change uid, creation time and deletion timestamp": async (api) => {
    const made = await api.created("configmaps", configMap("a"));
    const put = await api.put("configmaps/a", configMap("a", {}, { creationTimestamp: "2001-01-01T00:00:00Z" }));
    put.gives(200, { metadata: { creationTimestamp: made.textAt("metadata.creationTimestamp"), uid: made.textAt("metadata.uid") } });
    (await api.put("configmaps/a", configMap("a", {}, { deletionTimestamp: "2001-01-01T00:00:00Z" }))).refuses(
      422,
      "Invalid",
      'ConfigMap "a" is invalid: metadata.deletionTimestamp: Invalid value: "2001-01-01T00:00:00Z": field is immutable',
    );
  },

  "an invalid name is rejected with the rule": async (api) => {
    const rule =
      "Invalid value: \"A_b\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    (await api.post("configmaps", configMap("A_b"))).refuses(422, "Invalid", `ConfigMap "A_b" is invalid: metadata.name: ${rule}`, {
      causes: [["FieldValueInvalid", "metadata.name", rule]],
      details: { name: "A_b", kind: "ConfigMap" },
    });
  },

  "errors of labels, annotations and finalizers are reported together": async (api) => {
    const metadata = {
      name: "a",
      labels: { "-x": "ok", y: "not ok" },
      annotations: { "a b": "1" },
      finalizers: ["plain", "example.test/ok"],
    };
    const answer = await api.post("configmaps", { metadata });
    answer.gives(422, { reason: "Invalid" });
    const causes = answer.at("details.causes") as readonly { field: string }[];
    expect(causes.map(({ field }) => field).toSorted()).toEqual([
      "metadata.annotations",
      "metadata.finalizers[0]",
      "metadata.labels",
      "metadata.labels",
    ]);
  },

  "all annotations together may have at most 256 KiB": async (api) => {
    (await api.post("configmaps", configMap("a", {}, { annotations: { big: "x".repeat(262_144) } }))).refuses(
      422,
      "Invalid",
      'ConfigMap "a" is invalid: metadata.annotations: Too long: may not be more than 262144 bytes',
    );
    (await api.post("configmaps", configMap("b", {}, { annotations: { big: "x".repeat(262_100) } }))).gives(201);
  },

  "a ConfigMap holds text and bytes, but no key in both": async (api) => {
    (await api.post("configmaps", { metadata: { name: "a" }, data: { k: "1" }, binaryData: { k: "AA==" } })).gives(422, {
      reason: "Invalid",
    });
    (await api.post("configmaps", { metadata: { name: "b" }, data: { "bad key": "1", "..": "2" } })).gives(422, { reason: "Invalid" });
    (await api.post("configmaps", { metadata: { name: "c" }, binaryData: { k: "not base64" } })).gives(400, { reason: "BadRequest" });
  },

  "an immutable ConfigMap keeps its data and stays immutable, but accepts labels": async (api) => {
    await api.created("configmaps", { ...configMap("a", { x: "1" }), immutable: true });
    (await api.mergePatch("configmaps/a", { data: { x: "2" } })).refuses(
      422,
      "Invalid",
      'ConfigMap "a" is invalid: data: Forbidden: field is immutable when `immutable` is set',
    );
    (await api.mergePatch("configmaps/a", { immutable: null })).refuses(
      422,
      "Invalid",
      'ConfigMap "a" is invalid: immutable: Forbidden: field is immutable when `immutable` is set',
    );
    (await api.mergePatch("configmaps/a", { metadata: { labels: { l: "1" } } })).gives(200);
  },

  "a Secret's stringData is merged into data and never returned": async (api) => {
    const made = await api.created("secrets", { metadata: { name: "a" }, data: { k: "b2xk" }, stringData: { k: "new", l: "ü" } });
    made.has("data", { k: "bmV3", l: "w7w=" }).has("stringData", undefined).has("type", "Opaque");
    (await api.mergePatch("secrets/a", { stringData: { m: "1" } })).has("data", { k: "bmV3", l: "w7w=", m: "MQ==" });
  },

  "Secrets of known types must have the keys of the type": async (api) => {
    const types: readonly (readonly [string, object, number])[] = [
      ["kubernetes.io/tls", {}, 422],
      ["kubernetes.io/tls", { "tls.crt": "", "tls.key": "" }, 201],
      ["kubernetes.io/basic-auth", {}, 422],
      ["kubernetes.io/basic-auth", { username: "eA==" }, 201],
      ["kubernetes.io/ssh-auth", {}, 422],
      ["kubernetes.io/dockerconfigjson", { ".dockerconfigjson": "eA==" }, 422],
      ["kubernetes.io/dockerconfigjson", { ".dockerconfigjson": "e30=" }, 201],
      ["kubernetes.io/dockercfg", {}, 422],
      ["kubernetes.io/service-account-token", {}, 422],
      ["bootstrap.kubernetes.io/token", {}, 201],
      ["example.test/own", {}, 201],
    ];
    for (const [at, [type, data, status]] of types.entries()) {
      (await api.post("secrets", { metadata: { name: `s${at}` }, type, data })).gives(status);
    }
  },

  "the type of a Secret cannot change": async (api) => {
    await api.created("secrets", { metadata: { name: "a" } });
    (await api.mergePatch("secrets/a", { type: "example.test/own" })).refuses(
      422,
      "Invalid",
      'Secret "a" is invalid: type: Invalid value: "example.test/own": field is immutable',
    );
  },

  "an object is returned in the requested media type, including YAML": async (api) => {
    await api.created("configmaps", configMap("a", { x: "1" }));
    const yaml = await api.get("configmaps/a", { accept: "application/yaml" });
    expect(yaml.contentType).toBe("application/yaml");
    expect(yaml.text).toContain('data:\n  x: "1"\nkind: ConfigMap\n');
    expect((await api.get("configmaps/a", { accept: "application/json;stream=watch" })).status).toBe(200);
    (await api.get("configmaps/a", { accept: "text/html" })).refuses(
      406,
      "NotAcceptable",
      "406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    );
  },

  "a body may be YAML": async (api) => {
    const yaml = "# a comment\nmetadata: {name: a}\ndata:\n  x: |\n    two\n    lines\n";
    (await api.post("configmaps", yaml, { "content-type": "application/yaml" })).has("data", { x: "two\nlines\n" });
  },

  "a body of an unknown media type is rejected with the supported ones": async (api) => {
    (await api.post("configmaps", "x", { "content-type": "text/plain" })).refuses(
      415,
      "UnsupportedMediaType",
      "the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf",
    );
  },

  "pretty output is indented and ends with a line break": async (api) => {
    await api.created("configmaps", configMap("a"));
    expect((await api.get("configmaps/a?pretty=true")).text).toMatch(/^\{\n {2}"kind": "ConfigMap",\n/);
    expect((await api.get("configmaps/a?pretty=false")).text).toMatch(/^\{"kind":"ConfigMap",/);
    expect((await api.get("configmaps/a", { "user-agent": "curl/8" })).text).toMatch(/^\{\n {2}"kind"/);
  },

  "PartialObjectMetadata can be requested": async (api) => {
    await api.created("configmaps", configMap("a", { x: "1" }, { labels: { l: "1" } }));
    const partial = await api.get("configmaps/a", { accept: "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1" });
    partial
      .gives(200, { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: { name: "a", labels: { l: "1" } } })
      .has("data", undefined);
    const list = await api.get("configmaps?labelSelector=l", {
      accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
    });
    list.gives(200, { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1", items: [{ metadata: { name: "a" } }] });
    (await api.get("configmaps/a", { accept: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1" })).gives(406);
  },

  "methods that a path does not support are not allowed": async (api) => {
    await api.created("configmaps", configMap("a"));
    (await api.put("configmaps", configMap("a"))).refuses(
      405,
      "MethodNotAllowed",
      "the server does not allow this method on the requested resource",
    );
    (await api.post("configmaps/a", configMap("a"))).refuses(
      405,
      "MethodNotAllowed",
      "the server does not allow this method on the requested resource",
    );
    (await api.mergePatch("configmaps", {})).refuses(
      405,
      "MethodNotAllowed",
      "the server does not allow this method on the requested resource",
    );
    (await api.put("configmaps/a/status", configMap("a"))).refuses(404, "NotFound", "the server could not find the requested resource");
  },

  "PATCH without a patch type is rejected": async (api) => {
    await api.created("podtemplates", podTemplate("a"));
    (await api.send("PATCH", "podtemplates/a", {}, { "content-type": "application/json" })).refuses(
      415,
      "UnsupportedMediaType",
      "415: Unsupported Media Type",
    );
  },

  "objects of different kinds may have the same name": async (api) => {
    await api.created("configmaps", configMap("same"));
    await api.created("secrets", { metadata: { name: "same" } });
    (await api.post("configmaps", configMap("same"))).refuses(409, "AlreadyExists", 'configmaps "same" already exists', {
      details: { name: "same", kind: "configmaps" },
    });
  },

  "a kind of a group is named with its group in errors": async (api) => {
    (await api.get("apps/v1/deployments/no")).refuses(404, "NotFound", 'deployments.apps "no" not found', {
      details: { name: "no", group: "apps", kind: "deployments" },
    });
  },
});
