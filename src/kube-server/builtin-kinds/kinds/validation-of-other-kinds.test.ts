/** Validation of rarely used kinds, with the real server's messages. */
import { expect, it } from "vitest";
import { builtinTypes } from "../builtin-types.ts";

const types = builtinTypes();

/** The causes of a refused create, as "field: detail". */
function refusals(key: string, body: object): readonly string[] {
  const type = types.get(key);
  const decoded = type?.decode({ metadata: { name: "x" }, ...body });
  if (type === undefined || decoded?.ok !== true) throw new Error(`not read: ${key}`);
  const metadata = { ...decoded.value.object.metadata, ...(type.resource.namespaced ? { namespace: "default" } : {}) };
  const object = type.prepareForCreate(type.applyDefaults({ ...decoded.value.object, metadata }));
  return type.validate(object, undefined, undefined).map(({ field, detail }) => `${field}: ${detail}`);
}

const target = { apiVersion: "apps/v1", kind: "Deployment", name: "d" };
const metric = (containerResource: object) => ({
  spec: { maxReplicas: 3, scaleTargetRef: target, metrics: [{ type: "ContainerResource", containerResource }] },
});
const aim = { type: "Utilization", averageUtilization: 9 };
const level = (limited: object | undefined) => ({ spec: { type: "Limited", ...(limited === undefined ? {} : { limited }) } });
const responds = (limitResponse: object) => level({ limitResponse });

it.each([
  {
    name: "a metric of a container names it",
    key: "autoscaling/v2/horizontalpodautoscalers",
    given: metric({ name: "memory", target: aim }),
    want: ["spec.metrics[0].containerResource.container: Required value: must specify a container"],
  },
  {
    name: "a resource of a container is a known one",
    key: "autoscaling/v2/horizontalpodautoscalers",
    given: metric({ name: "foo", container: "c", target: aim }),
    want: [
      'spec.metrics[0].containerResource.name: Invalid value: "foo": must be a standard resource type or fully qualified',
      'spec.metrics[0].containerResource.name: Invalid value: "foo": must be a standard resource for containers',
    ],
  },
  {
    name: "a class of attributes has a driver and says something",
    key: "storage.k8s.io/v1/volumeattributesclasses",
    given: {},
    want: ["driverName: Required value", "parameters: Required value: must contain at least one key/value pair"],
  },
  {
    name: "a priority level has a type",
    key: "flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
    given: {},
    want: ["spec.type: Required value"],
  },
  {
    name: "only one level is exempt",
    key: "flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
    given: { spec: { type: "Exempt" } },
    want: ["spec.type: Invalid value: \"Exempt\": must be 'Exempt' if and only if `name` is 'exempt'"],
  },
  {
    name: "a limited level has its limits",
    key: "flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
    given: level(undefined),
    want: ["spec.limited: Required value: must not be empty when type is Limited"],
  },
  {
    name: "who queues says how",
    key: "flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
    given: responds({ type: "Queue" }),
    want: ["spec.limited.limitResponse.queuing: Required value: must not be empty if limited.limitResponse.type is Limited"],
  },
  {
    name: "who rejects has no queues",
    key: "flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations",
    given: responds({ type: "Reject", queuing: { queues: 1 } }),
    want: ["spec.limited.limitResponse.queuing: Forbidden: must be nil if limited.limitResponse.type is not Limited"],
  },
  {
    name: "a storage driver is not asked too often, and hides only tokens it has",
    key: "storage.k8s.io/v1/csidrivers",
    given: { spec: { nodeAllocatableUpdatePeriodSeconds: 9, serviceAccountTokenInSecrets: true } },
    want: [
      "spec.nodeAllocatableUpdatePeriodSeconds: Invalid value: 9: must be greater than or equal to 10 seconds",
      "spec.serviceAccountTokenInSecrets: Invalid value: true: serviceAccountTokenInSecrets is set but no tokenRequests are specified",
    ],
  },
  {
    name: "a token does not live for ever",
    key: "storage.k8s.io/v1/csidrivers",
    given: { spec: { tokenRequests: [{ audience: "a", expirationSeconds: 2 ** 32 + 1 }] } },
    want: ["spec.tokenRequests[0].expirationSeconds: Invalid value: 4294967297: may not specify a duration larger than 2^32 seconds"],
  },
  {
    name: "what a driver calls a node has an end",
    key: "storage.k8s.io/v1/csinodes",
    given: { spec: { drivers: [{ name: "d", nodeID: "x".repeat(257) }] } },
    want: [`spec.drivers[0].nodeID: Invalid value: "${"x".repeat(257)}": must be 256 characters or less`],
  },
])("$name", ({ key, given, want }) => {
  expect(refusals(key, given)).toEqual(want);
});

it("a CSI driver that receives tokens gets one warning about a safer way", () => {
  const type = types.get("storage.k8s.io/v1/csidrivers");
  const driver = {
    apiVersion: "storage.k8s.io/v1",
    kind: "CSIDriver",
    metadata: { name: "d" },
    spec: { tokenRequests: [{ audience: "a" }] },
  };
  const safe = { ...driver, spec: { ...driver.spec, serviceAccountTokenInSecrets: true } };
  expect(type?.warnings(driver, undefined)).toEqual([expect.stringContaining("spec.serviceAccountTokenInSecrets is unset")]);
  expect([type?.warnings(driver, driver), type?.warnings(safe, undefined)]).toEqual([[], []]);
});
