/** Subresources that change one part of an object, and refuse what would change another. */
import { describe, expect, it } from "vitest";
import type { KubeObject } from "#kube";
import { builtinTypes } from "../builtin-types.ts";

const types = builtinTypes();
const PODS = "v1/pods";
const REQUESTS = "certificates.k8s.io/v1/certificatesigningrequests";
const [PEM, PEM2] = ["a", "b"].map((text) => btoa(`-----BEGIN CERTIFICATE-----\n${text}\n-----END CERTIFICATE-----\n`)) as [string, string];

function made(type: string, body: object): KubeObject {
  const known = types.get(type);
  const decoded = known?.decode({ metadata: { name: "x", namespace: "n", uid: "u", resourceVersion: "1" }, ...body });
  if (known === undefined || decoded?.ok !== true) throw new Error(`cannot read ${type}`);
  return known.applyDefaults(decoded.value.object);
}

type Change = { readonly type: string; readonly subresource: string; readonly before: object; readonly after: object };

function through({ type, subresource, before, after }: Change): { readonly next: KubeObject; readonly causes: readonly string[] } {
  const known = types.get(type);
  const previous = made(type, before);
  const next = known?.prepareForUpdate(made(type, after), previous, subresource) ?? previous;
  return { next, causes: [...new Set(known?.validate(next, previous, subresource).map(({ field, detail }) => `${field}: ${detail}`))] };
}

const pod = (spec: object, metadata: object = {}) => ({
  metadata: { name: "x", namespace: "n", uid: "u", ...metadata },
  spec: { containers: [{ name: "c", image: "i", resources: { requests: { cpu: "1" } } }], ...spec },
});
const container = (resources: object, more: object = {}) => ({ containers: [{ name: "c", image: "i", resources, ...more }] });
const debug = (more: object = {}) => ({ ephemeralContainers: [{ name: "d", image: "i", ...more }] });

describe("the resize subresource of a Pod", () => {
  it("takes resources and nothing else", () => {
    const after = pod(container({ requests: { cpu: "2" } }, { image: "other" }), { labels: { a: "b" } });
    const { next, causes } = through({ type: PODS, subresource: "resize", before: pod({}), after });
    expect(causes).toEqual([]);
    expect(next).toMatchObject({ spec: { containers: [{ image: "i", resources: { requests: { cpu: "2" } } }] } });
    expect(next.metadata.labels).toBeUndefined();
  });

  it.each([
    {
      name: "another number of containers",
      after: pod({
        containers: [
          { name: "c", image: "i" },
          { name: "e", image: "i" },
        ],
      }),
      want: "spec.containers: Forbidden: containers may not be added or removed on resize",
    },
    {
      name: "another name",
      after: pod({ containers: [{ name: "e", image: "i" }] }),
      want: "spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize",
    },
    {
      name: "another quality of service",
      after: pod(container({ requests: { cpu: "1", memory: "1Gi" }, limits: { cpu: "1", memory: "1Gi" } })),
      want: 'spec: Invalid value: "": Pod QOS Class may not change as a result of resizing',
    },
    {
      name: "more of what cannot be resized",
      after: pod(container({ requests: { cpu: "1", "ephemeral-storage": "1Gi" } })),
      want: "spec: Forbidden: only cpu and memory resources are mutable",
    },
    {
      name: "resources of the whole Pod that are not resizable",
      after: pod({ ...container({ requests: { cpu: "1" } }), resources: { requests: { "hugepages-2Mi": "1Gi" } } }),
      want: "spec: Forbidden: only cpu and memory resources are mutable at pod-level",
    },
    {
      name: "taking a request away",
      after: pod(container({})),
      want: "spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed",
    },
  ])("refuses $name", ({ after, want }) => {
    expect(through({ type: PODS, subresource: "resize", before: pod({}), after }).causes).toContain(want);
  });
});

describe("the ephemeralcontainers subresource of a Pod", () => {
  it("adds containers, and everything else stays", () => {
    const { next, causes } = through({
      type: PODS,
      subresource: "ephemeralcontainers",
      before: pod({}),
      after: pod({ hostname: "h", ...debug() }),
    });
    expect(causes).toEqual([]);
    expect(next).toMatchObject({ spec: { ephemeralContainers: [{ name: "d" }] } });
    expect(next).not.toMatchObject({ spec: { hostname: "h" } });
  });

  it("takes none away and changes none", () => {
    const gone = through({ type: PODS, subresource: "ephemeralcontainers", before: pod(debug()), after: pod({}) });
    expect(gone.causes).toEqual(['spec.ephemeralContainers: Forbidden: existing ephemeral containers "d" may not be removed\n']);
    const changed = through({ type: PODS, subresource: "ephemeralcontainers", before: pod(debug()), after: pod(debug({ image: "j" })) });
    expect(changed.causes).toEqual([
      expect.stringContaining('"d" may not be changed\n@@ -1,6 +1,6 @@\n {\n  "Name": "d",\n- "Image": "i",\n+ "Image": "j",\n'),
    ]);
  });
});

describe("the subresources of a certificate request", () => {
  const request = (conditions: readonly object[]) => ({ spec: { signerName: "a.test/s" }, status: { conditions } });
  const approved = { type: "Approved", status: "True" };

  it("approval writes conditions and keeps the rest", () => {
    const { next } = through({
      type: REQUESTS,
      subresource: "approval",
      before: request([]),
      after: { spec: { signerName: "b.test/s" }, status: { conditions: [approved] } },
    });
    expect(next).toMatchObject({ spec: { signerName: "a.test/s" }, status: { conditions: [approved] } });
  });

  it.each([
    {
      name: "without a type",
      subresource: "approval",
      before: [],
      after: [{ status: "True" }],
      want: "status.conditions[0].type: Required value",
    },
    {
      name: "without a status",
      subresource: "approval",
      before: [],
      after: [{ type: "Approved" }],
      want: "status.conditions[0].status: Required value",
    },
    {
      name: "a decision that is not true",
      subresource: "approval",
      before: [],
      after: [{ type: "Denied", status: "False" }],
      want: 'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
    },
    {
      name: "both decisions",
      subresource: "approval",
      before: [],
      after: [approved, { type: "Denied", status: "True" }],
      want: 'status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
    },
    {
      name: "a type twice",
      subresource: "approval",
      before: [],
      after: [approved, approved],
      want: 'status.conditions[1].type: Duplicate value: "Approved"',
    },
    {
      name: "a decision by the signer",
      subresource: "status",
      before: [],
      after: [approved],
      want: 'status.conditions: Forbidden: updates may not add a condition of type "Approved"',
    },
    {
      name: "a decision that is taken back",
      subresource: "status",
      before: [approved],
      after: [],
      want: 'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
    },
    {
      name: "a failure that is taken back by who decides",
      subresource: "approval",
      before: [approved, { type: "Failed", status: "True" }],
      after: [approved],
      want: 'status.conditions: Forbidden: updates may not remove a condition of type "Failed"',
    },
  ])("refuse $name", ({ subresource, before, after, want }) => {
    expect(through({ type: REQUESTS, subresource, before: request(before), after: request(after) }).causes).toContain(want);
  });

  it("leaves a decision as it was when the signer writes it anew", () => {
    const { next, causes } = through({
      type: REQUESTS,
      subresource: "status",
      before: request([approved]),
      after: request([{ ...approved, reason: "New" }]),
    });
    expect(causes).not.toContainEqual(expect.stringContaining("status.conditions"));
    expect(next).toMatchObject({ status: { conditions: [approved] } });
  });

  it("set the time of undated conditions; an existing decision keeps its time", () => {
    const known = types.get(REQUESTS);
    const old = { ...approved, lastTransitionTime: "2024-01-01T00:00:00Z", lastUpdateTime: "2024-01-01T00:00:00Z" };
    const next = known?.prepareForUpdate(
      made(REQUESTS, request([approved, { type: "Failed", status: "True" }])),
      made(REQUESTS, request([old])),
      "approval",
      "2025-01-01T00:00:00Z",
    );
    expect(next).toMatchObject({
      status: {
        conditions: [
          { type: "Approved", lastTransitionTime: "2024-01-01T00:00:00Z", lastUpdateTime: "2025-01-01T00:00:00Z" },
          { type: "Failed", lastTransitionTime: "2025-01-01T00:00:00Z", lastUpdateTime: "2025-01-01T00:00:00Z" },
        ],
      },
    });
  });

  it.each([
    { name: "bytes that are no certificate", before: "", after: "YQ==", want: /must contain at least one CERTIFICATE PEM block$/ },
    { name: "another certificate", before: PEM, after: PEM2, want: /updates may not modify existing certificate content$/ },
  ])("refuse $name", ({ before, after, want }) => {
    const of = (certificate: string) => ({ ...request([]), status: certificate === "" ? {} : { certificate } });
    const { causes } = through({ type: REQUESTS, subresource: "status", before: of(before), after: of(after) });
    expect(causes).toContainEqual(expect.stringMatching(want));
  });
});

describe("the status subresource of a volume", () => {
  const NOW = "2025-01-01T00:00:00Z";
  const THEN = "2024-01-01T00:00:00Z";
  const volume = (status: object) => ({ spec: { capacity: { storage: "1Gi" }, hostPath: { path: "/x" } }, status });
  it.each([
    { name: "a phase that moves is dated", after: { phase: "Bound" }, want: NOW },
    { name: "a phase that moves with its old date is dated", after: { phase: "Bound", lastPhaseTransitionTime: THEN }, want: NOW },
    { name: "a phase that stays keeps its date", after: { phase: "Pending" }, want: THEN },
    {
      name: "who brings a date keeps it",
      after: { phase: "Bound", lastPhaseTransitionTime: "2020-01-01T00:00:00Z" },
      want: "2020-01-01T00:00:00Z",
    },
  ])("$name", ({ after, want }) => {
    const known = types.get("v1/persistentvolumes");
    const previous = made("v1/persistentvolumes", volume({ phase: "Pending", lastPhaseTransitionTime: THEN }));
    const next = known?.prepareForUpdate(made("v1/persistentvolumes", volume(after)), previous, "status", NOW);
    expect(next).toMatchObject({ status: { lastPhaseTransitionTime: want } });
  });
});

describe("status subresources", () => {
  it.each([
    {
      name: "a condition that is neither true nor false nor unknown",
      type: "apiregistration.k8s.io/v1/apiservices",
      status: { conditions: [{ type: "Available", status: "Perhaps" }] },
      want: 'status.conditions[0].status: Unsupported value: "Perhaps": supported values: "False", "True", "Unknown"',
    },
    {
      name: "an amount below nothing",
      type: "v1/nodes",
      status: { capacity: { cpu: "-1" } },
      want: 'status.capacity.cpu: Invalid value: "-1": must be greater than or equal to 0',
    },
    {
      name: "an address given twice",
      type: "v1/nodes",
      status: { addresses: ["a", "a"].map((address) => ({ type: "Hostname", address })) },
      want: 'status.addresses[1]: Duplicate value: {"Type":"Hostname","Address":"a"}',
    },
  ])("refuse $name", ({ type, status, want }) => {
    expect(through({ type, subresource: "status", before: {}, after: { status } }).causes).toContain(want);
  });
});
