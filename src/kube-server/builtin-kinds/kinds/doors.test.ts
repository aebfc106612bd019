/** Subresources that change one part of an object, and refuse what would change another. */
import { describe, expect, it } from "vitest";
import type { KubeObject } from "#kube";
import { builtinTypes } from "../builtin-types.ts";

const types = builtinTypes();
const PODS = "v1/pods";
const REQUESTS = "certificates.k8s.io/v1/certificatesigningrequests";

function made(type: string, body: object): KubeObject {
  const known = types.get(type);
  const decoded = known?.decode({ metadata: { name: "x", namespace: "n", uid: "u", resourceVersion: "1" }, ...body });
  if (known === undefined || decoded?.ok !== true) throw new Error(`cannot read ${type}`);
  return known.applyDefaults(decoded.value.object);
}

type Change = { readonly type: string; readonly door: string; readonly before: object; readonly after: object };

function through({ type, door, before, after }: Change): { readonly next: KubeObject; readonly causes: readonly string[] } {
  const known = types.get(type);
  const previous = made(type, before);
  const next = known?.prepareForUpdate(made(type, after), previous, door) ?? previous;
  return { next, causes: [...new Set(known?.validate(next, previous, door).map(({ field, detail }) => `${field}: ${detail}`))] };
}

const pod = (spec: object, metadata: object = {}) => ({
  metadata: { name: "x", namespace: "n", uid: "u", ...metadata },
  spec: { containers: [{ name: "c", image: "i", resources: { requests: { cpu: "1" } } }], ...spec },
});
const container = (resources: object, more: object = {}) => ({ containers: [{ name: "c", image: "i", resources, ...more }] });
const debug = (more: object = {}) => ({ ephemeralContainers: [{ name: "d", image: "i", ...more }] });

describe("a Pod's door for resources", () => {
  it("takes resources and nothing else", () => {
    const after = pod(container({ requests: { cpu: "2" } }, { image: "other" }), { labels: { a: "b" } });
    const { next, causes } = through({ type: PODS, door: "resize", before: pod({}), after });
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
      name: "taking a request away",
      after: pod(container({})),
      want: "spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed",
    },
  ])("refuses $name", ({ after, want }) => {
    expect(through({ type: PODS, door: "resize", before: pod({}), after }).causes).toContain(want);
  });
});

describe("a Pod's door for debugging", () => {
  it("adds containers, and everything else stays", () => {
    const { next, causes } = through({
      type: PODS,
      door: "ephemeralcontainers",
      before: pod({}),
      after: pod({ hostname: "h", ...debug() }),
    });
    expect(causes).toEqual([]);
    expect(next).toMatchObject({ spec: { ephemeralContainers: [{ name: "d" }] } });
    expect(next).not.toMatchObject({ spec: { hostname: "h" } });
  });

  it("takes none away and changes none", () => {
    const gone = through({ type: PODS, door: "ephemeralcontainers", before: pod(debug()), after: pod({}) });
    expect(gone.causes).toEqual(['spec.ephemeralContainers: Forbidden: existing ephemeral containers "d" may not be removed\n']);
    const changed = through({ type: PODS, door: "ephemeralcontainers", before: pod(debug()), after: pod(debug({ image: "j" })) });
    expect(changed.causes).toEqual([
      expect.stringContaining('"d" may not be changed\n@@ -1,6 +1,6 @@\n {\n  "Name": "d",\n- "Image": "i",\n+ "Image": "j",\n'),
    ]);
  });
});

describe("the doors of a certificate request", () => {
  const request = (conditions: readonly object[]) => ({ spec: { signerName: "a.test/s" }, status: { conditions } });
  const approved = { type: "Approved", status: "True" };

  it("approval writes conditions and keeps the rest", () => {
    const { next } = through({
      type: REQUESTS,
      door: "approval",
      before: request([]),
      after: { spec: { signerName: "b.test/s" }, status: { conditions: [approved] } },
    });
    expect(next).toMatchObject({ spec: { signerName: "a.test/s" }, status: { conditions: [approved] } });
  });

  it.each([
    {
      name: "without a type",
      door: "approval",
      before: [],
      after: [{ status: "True" }],
      want: "status.conditions[0].type: Required value",
    },
    {
      name: "without a status",
      door: "approval",
      before: [],
      after: [{ type: "Approved" }],
      want: "status.conditions[0].status: Required value",
    },
    {
      name: "a decision that is not true",
      door: "approval",
      before: [],
      after: [{ type: "Denied", status: "False" }],
      want: 'status.conditions[0].status: Unsupported value: "False": supported values: "True"',
    },
    {
      name: "both decisions",
      door: "approval",
      before: [],
      after: [approved, { type: "Denied", status: "True" }],
      want: 'status.conditions: Invalid value: "Denied": Approved and Denied conditions are mutually exclusive',
    },
    {
      name: "a type twice",
      door: "approval",
      before: [],
      after: [approved, approved],
      want: 'status.conditions[1].type: Duplicate value: "Approved"',
    },
    {
      name: "a decision by the signer",
      door: "status",
      before: [],
      after: [approved],
      want: 'status.conditions: Forbidden: updates may not add a condition of type "Approved"',
    },
    {
      name: "a decision that is taken back",
      door: "status",
      before: [approved],
      after: [],
      want: 'status.conditions: Forbidden: updates may not remove a condition of type "Approved"',
    },
    {
      name: "a decision that is rewritten",
      door: "status",
      before: [approved],
      after: [{ ...approved, reason: "New" }],
      want: 'status.conditions: Forbidden: updates may not modify a condition of type "Approved"',
    },
  ])("refuse $name", ({ door, before, after, want }) => {
    expect(through({ type: REQUESTS, door, before: request(before), after: request(after) }).causes).toContain(want);
  });
});
