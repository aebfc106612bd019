import { describe, expect, it, test } from "vitest";
import type { Node, PodSpec, Toleration } from "#kube";
import { matchesNode } from "./node-affinity.ts";
import { podRequests } from "./requests.ts";
import { tolerates, untolerated } from "./taints.ts";

const node: Node = { apiVersion: "v1", kind: "Node", metadata: { name: "n1", labels: { zone: "a", cores: "8" } } };
const asks = (key: string, operator: string, values?: string[]): PodSpec => ({
  containers: [],
  affinity: {
    nodeAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: {
        nodeSelectorTerms: [{ matchExpressions: [{ key, operator, ...(values === undefined ? {} : { values }) }] }],
      },
    },
  },
});

describe("a Pod may run on a node", () => {
  it.each<{ name: string; given: PodSpec; want: boolean }>([
    { name: "by no container", given: { containers: [] }, want: true },
    { name: "by its labels", given: { containers: [], nodeSelector: { zone: "a" } }, want: true },
    { name: "by labels it has not", given: { containers: [], nodeSelector: { toString: "a" } }, want: false },
    { name: "In", given: asks("zone", "In", ["a", "b"]), want: true },
    { name: "NotIn", given: asks("zone", "NotIn", ["a"]), want: false },
    { name: "NotIn without the label", given: asks("disk", "NotIn", ["a"]), want: true },
    { name: "Exists", given: asks("zone", "Exists"), want: true },
    { name: "DoesNotExist", given: asks("zone", "DoesNotExist"), want: false },
    { name: "Gt", given: asks("cores", "Gt", ["4"]), want: true },
    { name: "Lt", given: asks("cores", "Lt", ["4"]), want: false },
    { name: "Gt of something else", given: asks("zone", "Gt", ["4"]), want: false },
    { name: "an operator of the future", given: asks("zone", "Near", ["a"]), want: false },
    {
      name: "an empty term",
      given: {
        containers: [],
        affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms: [{}] } } },
      },
      want: false,
    },
    {
      name: "its name",
      given: {
        containers: [],
        affinity: {
          nodeAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: {
              nodeSelectorTerms: [{ matchFields: [{ key: "metadata.name", operator: "In", values: ["n1"] }] }],
            },
          },
        },
      },
      want: true,
    },
  ])("$name", ({ given, want }) => expect(matchesNode(given, node)).toBe(want));
});

describe("a taint is tolerated", () => {
  const taint = { key: "gpu", value: "yes", effect: "NoSchedule" };
  it.each<{ name: string; given: Toleration; want: boolean }>([
    { name: "by key and value", given: { key: "gpu", value: "yes", effect: "NoSchedule" }, want: true },
    { name: "by every effect", given: { key: "gpu", operator: "Exists" }, want: true },
    { name: "by everything", given: { operator: "Exists" }, want: true },
    { name: "not by another value", given: { key: "gpu", value: "no" }, want: false },
    { name: "not by another key", given: { key: "disk", operator: "Exists" }, want: false },
    { name: "not by another effect", given: { key: "gpu", value: "yes", effect: "NoExecute" }, want: false },
    { name: "not by an operator of the future", given: { key: "gpu", operator: "Gt", value: "1" }, want: false },
  ])("$name", ({ given, want }) => expect(tolerates(given, taint)).toBe(want));
  it("only where its effect counts", () => expect(untolerated([taint], [], ["NoExecute"])).toBeUndefined());
});

test("a Pod's requests are the sum of its containers, or its largest init container; sidecars count in both", () => {
  const asks = (name: string, cpu: string, restartPolicy?: string) => ({
    name,
    resources: { requests: { cpu, bad: "x" } },
    ...(restartPolicy === undefined ? {} : { restartPolicy }),
  });
  const spec: PodSpec = {
    containers: [asks("a", "100m"), asks("b", "200m")],
    initContainers: [asks("side", "50m", "Always"), asks("big", "400m")],
    overhead: { cpu: "1m" },
  };
  const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec };
  expect(podRequests(pod).get("cpu")).toBe(451_000_000n);
  expect(podRequests(pod)).toBe(podRequests(pod));
  expect(podRequests({ ...pod, spec: { containers: [asks("a", "1")] } }).get("cpu")).toBe(1_000_000_000n);
});
