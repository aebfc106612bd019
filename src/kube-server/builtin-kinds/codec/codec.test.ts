import { describe, expect, it } from "vitest";
import { err, ok } from "#base";
import { normaliseBase64 } from "./base64.ts";
import { readGoValue } from "./go-json.ts";
import { normaliseTime, parseMilliseconds } from "./go-time.ts";
import { goTypeOf } from "./go-types.ts";
import { canonicalQuantity } from "./quantity-text.ts";

const deployment = goTypeOf("io.k8s.api.apps.v1.Deployment");

describe("canonicalQuantity", () => {
  it.each([
    ["0.5", "500m"],
    ["1000m", "1"],
    ["1000", "1k"],
    ["1024Mi", "1Gi"],
    ["1.5Gi", "1536Mi"],
    ["0.5Ki", "512"],
    ["1e3", "1e3"],
    ["1500e-1", "150"],
    ["1E", "1E"],
    ["+2", "2"],
    ["-1024Ki", "-1Mi"],
    ["0", "0"],
    ["0Ki", "0"],
    [".5", "500m"],
    ["100u", "100u"],
  ])("writes %s as %s", (given, want) => {
    expect(canonicalQuantity(given)).toEqual(ok(want));
  });

  it.each([
    ["", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"],
    ["x", "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"],
    ["1.2.3", "unable to parse numeric part of quantity"],
    ["1Kii", "unable to parse quantity's suffix"],
  ])("refuses %j with the server's message", (given, want) => {
    expect(canonicalQuantity(given)).toEqual(err(want));
  });
});

describe("normaliseTime", () => {
  it.each([
    { given: "2024-02-29T23:30:00-01:00", micro: false, want: "2024-03-01T00:30:00Z" },
    { given: "2024-01-01T00:00:00.9Z", micro: false, want: "2024-01-01T00:00:00Z" },
    { given: "1969-12-31T23:59:59Z", micro: false, want: "1969-12-31T23:59:59Z" },
    { given: "2024-01-01T00:00:00.123456Z", micro: true, want: "2024-01-01T00:00:00.123456Z" },
  ])("turns $given into UTC", ({ given, micro, want }) => {
    expect(normaliseTime(given, micro)).toEqual(ok(want));
  });

  it.each([
    { given: "x", micro: false, want: 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"' },
    { given: "2024-01-01", micro: false, want: 'parsing time "2024-01-01" as "2006-01-02T15:04:05Z07:00": cannot parse "" as "T"' },
    { given: "2024-13-01T00:00:00Z", micro: false, want: 'parsing time "2024-13-01T00:00:00Z": month out of range' },
    { given: "2023-02-29T00:00:00Z", micro: false, want: 'parsing time "2023-02-29T00:00:00Z": day out of range' },
    { given: "2023-12-31T24:00:00Z", micro: false, want: 'parsing time "2023-12-31T24:00:00Z": hour out of range' },
    { given: "2023-12-31T23:60:00Z", micro: false, want: 'parsing time "2023-12-31T23:60:00Z": minute out of range' },
    { given: "2023-12-31T23:00:61Z", micro: false, want: 'parsing time "2023-12-31T23:00:61Z": second out of range' },
    { given: "2024-01-01T00:00:00ZZ", micro: false, want: 'parsing time "2024-01-01T00:00:00ZZ": extra text: "Z"' },
    {
      given: "2024-01-01T00:00:00Z",
      micro: true,
      want: 'parsing time "2024-01-01T00:00:00Z" as "2006-01-02T15:04:05.000000Z07:00": cannot parse "Z" as ".000000"',
    },
  ])("refuses $given as Go does", ({ given, micro, want }) => {
    expect(normaliseTime(given, micro)).toEqual(err(want));
  });

  it("gives no milliseconds for what is no time", () => {
    expect(parseMilliseconds(undefined)).toBeUndefined();
    expect(parseMilliseconds("1970-01-01T00:00:01Z")).toBe(1_000);
  });
});

describe("normaliseBase64", () => {
  it.each([
    ["YQ==", "YQ=="],
    ["YW\nI=", "YWI="],
    ["YWJj", "YWJj"],
    ["", ""],
  ])("takes %j", (given, want) => {
    expect(normaliseBase64(given)).toEqual(ok(want));
  });

  it.each([
    ["1", 0],
    ["YWJjZ", 4],
    ["Y!==", 1],
    ["=", 0],
    ["YQ=", 3],
    ["YQ=x", 3],
    ["YQ==x", 4],
  ])("says where %j stops being base64", (given, byte) => {
    expect(normaliseBase64(given)).toEqual(err(`illegal base64 data at input byte ${byte}`));
  });
});

describe("readGoValue", () => {
  it("drops what is empty, keeps what is a pointer, and writes structs that are always there", () => {
    const read = readGoValue(deployment, {
      metadata: { name: "x", labels: {}, creationTimestamp: null },
      spec: { replicas: 0, paused: false },
    });
    expect(read).toEqual(
      ok({
        value: {
          metadata: { name: "x" },
          spec: { replicas: 0, selector: null, template: { metadata: {}, spec: { containers: null } }, strategy: {} },
          status: {},
        },
        findings: [],
      }),
    );
  });

  it("reports unknown fields where they stand, in the order of the document", () => {
    const read = readGoValue(deployment, { spec: { template: { spec: { containers: [{ imag: 1 }] } }, Replicas: 3 }, extra: 1 });
    expect(read).toMatchObject({
      value: {
        findings: ['unknown field "spec.template.spec.containers[0].imag"', 'unknown field "spec.Replicas"', 'unknown field "extra"'],
      },
    });
  });

  it.each([
    {
      name: "a number for text",
      given: { metadata: { labels: { a: 1 } } },
      want: "number into Go struct field ObjectMeta.metadata.labels of type string",
    },
    {
      name: "text for a map",
      given: { metadata: { labels: "x" } },
      want: "string into Go struct field ObjectMeta.metadata.labels of type map[string]string",
    },
    {
      name: "text for a count",
      given: { spec: { replicas: "1" } },
      want: "string into Go struct field DeploymentSpec.spec.replicas of type int32",
    },
    {
      name: "a fraction",
      given: { spec: { replicas: 1.5 } },
      want: "number 1.5 into Go struct field DeploymentSpec.spec.replicas of type int32",
    },
    { name: "a list for an object", given: { spec: [] }, want: "array into Go struct field Deployment.spec of type v1.DeploymentSpec" },
    { name: "a wrong body", given: true, want: "bool into Go value of type v1.Deployment" },
    {
      name: "a wrong named type",
      given: { spec: { template: { spec: { restartPolicy: 1 } } } },
      want: "number into Go struct field PodSpec.spec.template.spec.restartPolicy of type v1.RestartPolicy",
    },
    {
      name: "an inlined struct's field",
      given: { spec: { template: { spec: { volumes: [{ emptyDir: "x" }] } } } },
      want: "string into Go struct field Volume.spec.template.spec.volumes.VolumeSource.emptyDir of type v1.EmptyDirVolumeSource",
    },
    {
      name: "neither number nor text",
      given: { spec: { strategy: { rollingUpdate: { maxSurge: true } } } },
      want: "bool into Go struct field RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32",
    },
  ])("reports $name as Go does", ({ given, want }) => {
    expect(readGoValue(deployment, given)).toEqual(err(`json: cannot unmarshal ${want}`));
  });

  it("reports the first wrong type, but a value that refuses itself before it", () => {
    const given = { spec: { replicas: "x", template: { spec: { containers: [{ resources: { limits: { cpu: "x" } } }] } } } };
    expect(readGoValue(deployment, given)).toMatchObject({ error: expect.stringContaining("quantities must match") as string });
  });

  it("keeps a key named __proto__ as a key", () => {
    const read = readGoValue(goTypeOf("io.k8s.api.core.v1.ConfigMap"), JSON.parse('{"data":{"__proto__":"x"}}') as Record<string, string>);
    expect(JSON.stringify(read)).toContain('"__proto__":"x"');
    expect(({} as { x?: string }).x).toBeUndefined();
  });
});
