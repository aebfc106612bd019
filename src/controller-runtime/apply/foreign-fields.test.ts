import { describe, expect, test } from "vitest";
import type { JsonObject, KubeObject } from "#kube";
import { describeFields, removalOfForeign } from "./foreign-fields.ts";

const policy = (body: object, metadata: object = {}): KubeObject => ({
  apiVersion: "cilium.io/v2",
  kind: "CiliumNetworkPolicy",
  metadata: { name: "a", ...metadata },
  ...body,
});
const workload = (template: object, metadata: object = {}): KubeObject => ({
  ...policy({ spec: { template } }, metadata),
  kind: "Deployment",
});

type Row = {
  readonly name: string;
  readonly wanted: KubeObject;
  readonly live: KubeObject;
  readonly whole: boolean;
  readonly want: JsonObject | undefined;
};

const rows: readonly Row[] = [
  { name: "equal objects", wanted: policy({ spec: { a: [1] } }), live: policy({ spec: { a: [1] } }), whole: true, want: undefined },
  { name: "a field", wanted: policy({ spec: {} }), live: policy({ spec: { rules: [{}] } }), whole: true, want: { spec: { rules: null } } },
  {
    name: "a nested field",
    wanted: policy({ spec: { mtls: { mode: "STRICT" } } }),
    live: policy({ spec: { mtls: { mode: "STRICT", x: 1 }, y: 2 } }),
    whole: true,
    want: { spec: { mtls: { x: null }, y: null } },
  },
  {
    name: "an item of a list",
    wanted: policy({ spec: { ingress: [{}] } }),
    live: policy({ spec: { ingress: [{}, { fromEntities: ["all"] }] } }),
    whole: true,
    want: { spec: { ingress: [{}] } },
  },
  {
    name: "a second list of rules beside the spec",
    wanted: policy({ spec: {} }),
    live: policy({ spec: {}, specs: [{ ingress: [{}] }], status: { ok: true } }),
    whole: true,
    want: { specs: null },
  },
  { name: "a removed field", wanted: policy({ spec: { a: 1 } }), live: policy({}), whole: true, want: { spec: { a: 1 } } },
  {
    name: "a dry run; annotations of others stay",
    wanted: policy({ spec: {} }, { annotations: { "lattice.dev/owner": "x" } }),
    live: policy({ spec: {} }, { annotations: { "lattice.dev/owner": "x", "istio.io/dry-run": "true", "example.com/a": "b" } }),
    whole: true,
    want: { metadata: { annotations: { "istio.io/dry-run": null } } },
  },
  {
    name: "annotations that Istio itself writes",
    wanted: policy({}),
    live: policy({}, { annotations: { "gateway.istio.io/controller-version": "5" } }),
    whole: true,
    want: undefined,
  },
  {
    name: "a label of ours that Istio reads",
    wanted: policy({}, { labels: { "istio.io/waypoint-for": "service" } }),
    live: policy({}, { labels: { "istio.io/waypoint-for": "service" } }),
    whole: true,
    want: undefined,
  },
  {
    name: "containers and annotations of others on a workload",
    wanted: workload({ spec: { containers: [] } }),
    live: workload({ metadata: { annotations: { "example.com/a": "b" } }, spec: { containers: [{ name: "injected" }] } }),
    whole: false,
    want: undefined,
  },
  {
    name: "fields that exclude pods from the mesh",
    wanted: workload({ metadata: { labels: { a: "b" } }, spec: {} }),
    live: workload({
      metadata: { labels: { a: "b", "istio.io/dataplane-mode": "none" }, annotations: { "ambient.istio.io/redirection": "disabled" } },
      spec: { hostNetwork: true },
    }),
    whole: false,
    want: {
      spec: {
        template: {
          metadata: { labels: { "istio.io/dataplane-mode": null }, annotations: { "ambient.istio.io/redirection": null } },
          spec: { hostNetwork: null },
        },
      },
    },
  },
];

describe("fields that another client added", () => {
  test.each(rows)("$name", ({ wanted, live, whole, want }) => expect(removalOfForeign(wanted, live, whole)).toEqual(want));

  test("are described by name, without values, up to a limit", () => {
    expect(describeFields({ spec: { rules: null }, metadata: { annotations: { "istio.io/dry-run": null } }, specs: null })).toBe(
      "spec.rules, metadata.annotations.istio.io/dry-run, specs",
    );
    const many = Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`field${n}`, null]));
    expect(describeFields({ spec: many })).toBe("spec.field0, spec.field1, spec.field2, spec.field3, spec.field4 and 4 more");
    expect(describeFields({ spec: { ["x".repeat(999)]: null } })).toHaveLength(64);
  });
});

test("a key __proto__ that another client adds to a selector is removed", () => {
  const metadata = { name: "deny", namespace: "shop" };
  const wanted = { apiVersion: "cilium.io/v2", kind: "CiliumNetworkPolicy", metadata, spec: { endpointSelector: {} } };
  const live = { ...wanted, spec: JSON.parse('{"endpointSelector":{"matchLabels":{"__proto__":"x"}}}') as object };
  const within = { ...wanted, spec: { endpointSelector: { matchLabels: {} } } };
  expect(JSON.stringify(removalOfForeign(wanted, live, true))).toBe('{"spec":{"endpointSelector":{"matchLabels":null}}}');
  expect(JSON.stringify(removalOfForeign(within, live, true))).toBe('{"spec":{"endpointSelector":{"matchLabels":{"__proto__":null}}}}');
});
