/** Unknown and duplicate fields, and values of the wrong type. */
import { expect } from "vitest";
import { area } from "../contract.ts";
import { configMap, deployment, podTemplate } from "./objects.ts";

const strict = "?fieldValidation=Strict";

export const fieldValidation = area("field validation", {
  "unknown fields of a strategic patch are reported in alphabetical order": async (api) => {
    await api.created("podtemplates", podTemplate("a", { containers: [{ name: "c", image: "i" }] }));
    const patch = { zz: 1, template: { spec: { containers: [{ name: "c", imag: "x" }], bar: 1 } }, foo: 1 };
    (await api.strategicPatch("podtemplates/a", patch)).warns(
      'unknown field "foo"',
      'unknown field "template.spec.bar"',
      'unknown field "template.spec.containers[0].imag"',
      'unknown field "zz"',
    );
  },

  "for YAML, duplicate keys are reported before unknown fields, which are sorted": async (api) => {
    const text = 'kind: ConfigMap\napiVersion: v1\nmetadata:\n  name: a\n  foo: bar\n  name: a\ndata:\n  a: "1"\n  a: "2"\nextra: 1\n';
    const yaml = { "content-type": "application/yaml" };
    (await api.post("configmaps?fieldValidation=Strict", text, yaml)).refuses(
      400,
      "BadRequest",
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: yaml: unmarshal errors:\n  line 6: key "name" already set in map\n  line 9: key "a" already set in map, unknown field "extra", unknown field "metadata.foo"',
    );
    (await api.post("configmaps", text, yaml)).gives(201, { data: { a: "2" } });
  },

  "a duplicate key in an apply is reported only when the merge succeeds": async (api) => {
    const body = (value: string) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"data":{"a":"1","a":${value}}}`;
    (await api.apply("m", "configmaps/a", body("2"))).gives(500).warns();
    (await api.apply("m", "configmaps/a", body('"2"'))).gives(201).warns('line 1: key "a" already set in map');
  },

  "by default an unknown field is a warning": async (api) => {
    const answer = await api.post("configmaps", { ...configMap("a"), colour: "red" });
    answer.gives(201).warns('unknown field "colour"');
    answer.has("colour", undefined);
  },

  "Ignore accepts unknown fields, Warn returns warnings, Strict rejects": async (api) => {
    const body = { ...configMap("a"), colour: "red" };
    (await api.post("configmaps?fieldValidation=Strict", body)).refuses(
      400,
      "BadRequest",
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "colour"',
    );
    (await api.post("configmaps?fieldValidation=Warn", body)).gives(201).warns('unknown field "colour"');
    (await api.put("configmaps/a?fieldValidation=Ignore", body)).gives(200).warns();
  },

  "an unknown field is reported with its path": async (api) => {
    const body = deployment(
      "a",
      {},
      { containers: [{ name: "c", image: "i", ports: [{ containerPort: 80, colour: "red" }], nonsense: {} }] },
    );
    (await api.post(`apps/v1/deployments${strict}`, body)).refuses(
      400,
      "BadRequest",
      'Deployment in version "v1" cannot be handled as a Deployment: strict decoding error: unknown field "spec.template.spec.containers[0].ports[0].colour", unknown field "spec.template.spec.containers[0].nonsense"',
    );
  },

  "the last value of a duplicate field counts, with a warning": async (api) => {
    const answer = await api.post("configmaps", '{"metadata":{"name":"a"},"data":{"x":"1","x":"2"}}');
    answer.gives(201).has("data", { x: "2" });
    answer.warns('duplicate field "data.x"');
    (await api.post(`configmaps${strict}`, '{"metadata":{"name":"b","name":"b"}}')).refuses(
      400,
      "BadRequest",
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: duplicate field "metadata.name"',
    );
  },

  "a duplicate key in YAML is reported with its line": async (api) => {
    const yaml = "metadata:\n  name: a\ndata:\n  x: '1'\n  x: '2'\n";
    (await api.post("configmaps", yaml, { "content-type": "application/yaml" })).gives(201).warns('line 5: key "x" already set in map');
    (await api.post(`configmaps${strict}`, yaml, { "content-type": "application/yaml" })).gives(400);
  },

  "field names are case-sensitive": async (api) => {
    const answer = await api.post("configmaps", { metadata: { name: "a" }, Data: { x: "1" } });
    answer.gives(201).warns('unknown field "Data"');
    answer.has("data", undefined);
  },

  "patches are validated too": async (api) => {
    await api.created("podtemplates", podTemplate("a"));
    (await api.mergePatch("podtemplates/a", { template: { colour: "red" } })).gives(200).warns('unknown field "template.colour"');
    (await api.mergePatch("podtemplates/a?fieldValidation=Strict", { template: { colour: "red" } })).gives(422, { reason: "Invalid" });
    (await api.strategicPatch("podtemplates/a?fieldValidation=Strict", { template: { colour: "red" } })).refuses(
      422,
      "Invalid",
      ' "" is invalid: patch: Invalid value: "map[template:map[colour:red]]": strict decoding error: unknown field "template.colour"',
    );
    (await api.jsonPatch("podtemplates/a?fieldValidation=Strict", [{ op: "add", path: "/colour", value: "red" }])).gives(422);
  },

  "an unknown fieldValidation value is rejected": async (api) => {
    (await api.post("configmaps?fieldValidation=Loose", configMap("a"))).refuses(
      422,
      "Invalid",
      'CreateOptions.meta.k8s.io "" is invalid: fieldValidation: Unsupported value: "Loose": supported values: "", "Ignore", "Strict", "Warn"',
    );
  },

  "a value of the wrong type is rejected with every fieldValidation": async (api) => {
    (await api.post("configmaps?fieldValidation=Ignore", { metadata: { name: "a" }, data: { x: 1 } })).refuses(
      400,
      "BadRequest",
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal number into Go struct field ConfigMap.data of type string',
    );
    (await api.post("apps/v1/deployments", deployment("a", { replicas: "two" }))).refuses(
      400,
      "BadRequest",
      'Deployment in version "v1" cannot be handled as a Deployment: json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32',
    );
    (await api.post("apps/v1/deployments", deployment("a", { paused: 1 }))).gives(400);
    (await api.post("apps/v1/deployments", deployment("a", { replicas: 1.5 }))).gives(400);
    (await api.post("apps/v1/deployments", deployment("a", { replicas: 9_999_999_999 }))).gives(400);
    (await api.post("configmaps", { metadata: { name: "a", labels: ["x"] } })).gives(400);
    (await api.post("configmaps", { metadata: { name: 1 } })).gives(400);
    (await api.post("configmaps", { metadata: "a" })).gives(400);
  },

  "an invalid quantity or time is rejected": async (api) => {
    const resources = (cpu: unknown) => podTemplate("a", { containers: [{ name: "c", image: "i", resources: { limits: { cpu } } }] });
    (await api.post("podtemplates", resources("lots"))).refuses(
      400,
      "BadRequest",
      "PodTemplate in version \"v1\" cannot be handled as a PodTemplate: quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
    );
    (await api.post("podtemplates", resources(true))).gives(400);
    (await api.post("podtemplates", resources(1.5))).gives(201, {
      template: { spec: { containers: [{ resources: { limits: { cpu: "1500m" } } }] } },
    });
    (await api.post("coordination.k8s.io/v1/leases", { metadata: { name: "a" }, spec: { renewTime: "yesterday" } })).gives(400);
    (await api.post("configmaps", { metadata: { name: "a", creationTimestamp: 5 } })).gives(400);
  },

  "a body that is not JSON is a bad request": async (api) => {
    for (const [body, message] of [
      ["{", "unexpected end of JSON input"],
      ["[]", "json: cannot unmarshal array into Go value of type"],
      ['"a"', "json: cannot unmarshal string into Go value of type"],
      ["{'a':1}", "invalid character '\\'' looking for beginning of object key string"],
      ['{"metadata":{"name":"a"}} x', ""],
      ["", ""],
    ] as const) {
      const answer = await api.post("configmaps", body);
      expect(answer.status, body).toBe(400);
      expect(answer.textAt("message")).toContain(message);
    }
  },

  "unknown fields of custom resources are pruned with a warning": async (api) => {
    const group = `${api.id}.contracts.test`;
    const schema = {
      openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties: { size: { type: "integer" } } } } },
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
    const thing = (name: string) => ({ apiVersion: `${group}/v1`, kind: "Thing", metadata: { name }, spec: { size: 1, colour: "red" } });
    const made = await api.until(
      () => api.post(`${group}/v1/things`, thing("a")),
      ({ status }) => status === 201,
    );
    made.has("spec", { size: 1 }).warns('unknown field "spec.colour"');
    (await api.post(`${group}/v1/things${strict}`, thing("b"))).refuses(
      400,
      "BadRequest",
      'Thing in version "v1" cannot be handled as a Thing: strict decoding error: unknown field "spec.colour"',
    );
    (await api.post(`${group}/v1/things?fieldValidation=Ignore`, thing("b"))).gives(201).warns();
  },

  "integers keep all their digits": async (api) => {
    const made = await api.post(
      "apps/v1/controllerrevisions",
      '{"metadata":{"name":"a"},"revision":9007199254740993,"data":{"x":9007199254740993}}',
    );
    made.gives(201);
    expect(made.text).toContain('"revision":9007199254740993');
    expect(made.text).toContain('"data":{"x":9007199254740993}');
  },

  "at most a hundred unknown fields are reported": async (api) => {
    const unknown = Object.fromEntries(Array.from({ length: 130 }, (_, at) => [`u${at}`, at]));
    const answer = await api.post("configmaps?fieldValidation=Strict", {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "a" },
      ...unknown,
    });
    const named = Array.from({ length: 100 }, (_, at) => `unknown field "u${at}"`).join(", ");
    answer.refuses(400, "BadRequest", `ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: ${named}`);
  },
});
