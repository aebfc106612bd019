/** Affinity to other Pods, compared with a search through all Pods for each node. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { matches, requirementsOf, type Node, type Pod, type PodAffinityTerm } from "#kube";
import { Ledger } from "./ledger.ts";
import { podAffinityCheck } from "./pod-affinity.ts";

const term = fc.record({
  labelSelector: fc.option(fc.record({ matchLabels: fc.dictionary(fc.constantFrom("app"), fc.constantFrom("a", "b")) }), {
    nil: undefined,
  }),
  namespaces: fc.constantFrom([], ["one"], ["one", "two"]),
  topologyKey: fc.constantFrom("zone", "host"),
});
const required = fc.record({ requiredDuringSchedulingIgnoredDuringExecution: fc.array(term, { maxLength: 2 }) });
const affinity = fc.option(fc.record({ podAffinity: required, podAntiAffinity: required }, { requiredKeys: [] }), { nil: undefined });
const aPod = fc.record({ namespace: fc.constantFrom("one", "two"), app: fc.constantFrom("a", "b", "c"), affinity, on: fc.nat({ max: 4 }) });
const aNode = fc.record({ zone: fc.constantFrom("x", "y", undefined) });

const nodeOf = ({ zone }: { zone: string | undefined }, index: number): Node => ({
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: `n${index}`, labels: { host: `n${index}`, ...(zone === undefined ? {} : { zone }) } },
});
type Given = { readonly namespace: string; readonly app: string; readonly affinity: unknown; readonly on?: number };
const podOf = ({ namespace, app, affinity: given, on }: Given, index: number): Pod => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: `p${index}`, uid: `p${index}`, namespace, labels: { app } },
  spec: {
    containers: [],
    ...(given === undefined ? {} : { affinity: given as NonNullable<Pod["spec"]["affinity"]> }),
    ...(on === undefined ? {} : { nodeName: `n${on}` }),
  },
});

/** As the documentation of Kubernetes describes it, without any index. */
function naive(pod: Pod, node: Node, nodes: readonly Node[], placed: readonly Pod[]): string | undefined {
  const terms = (owner: Pod, kind: "podAffinity" | "podAntiAffinity") =>
    owner.spec.affinity?.[kind]?.requiredDuringSchedulingIgnoredDuringExecution ?? [];
  const isMeant = ({ labelSelector, namespaces = [] }: PodAffinityTerm, owner: Pod, other: Pod) => {
    const where = namespaces.length === 0 ? [owner.metadata.namespace] : namespaces;
    return (
      labelSelector !== undefined &&
      where.some((one) => one === other.metadata.namespace) &&
      matches(requirementsOf(labelSelector), other.metadata.labels)
    );
  };
  const nodeNamed = (name: string | undefined) => nodes.find(({ metadata }) => metadata.name === name);
  const domain = (of: Node | undefined, key: string) => of?.metadata.labels?.[key];
  const present = placed.filter(({ spec }) => nodeNamed(spec.nodeName) !== undefined);
  const near = (one: PodAffinityTerm, owner: Pod) =>
    present.some(
      (other) =>
        isMeant(one, owner, other) &&
        domain(node, one.topologyKey) !== undefined &&
        domain(nodeNamed(other.spec.nodeName), one.topologyKey) === domain(node, one.topologyKey),
    );
  for (const one of terms(pod, "podAffinity")) {
    const isFirst = isMeant(one, pod, pod) && !present.some((other) => isMeant(one, pod, other));
    if (!near(one, pod) && !(isFirst && domain(node, one.topologyKey) !== undefined)) return "affinity";
  }
  if (terms(pod, "podAntiAffinity").some((one) => near(one, pod))) return "anti-affinity";
  const excluded = present.some((other) =>
    terms(other, "podAntiAffinity").some(
      (one) =>
        isMeant(one, other, pod) &&
        domain(node, one.topologyKey) !== undefined &&
        domain(nodeNamed(other.spec.nodeName), one.topologyKey) === domain(node, one.topologyKey),
    ),
  );
  return excluded ? "existing pods" : undefined;
}

test("the check decides as a search through all Pods does", () => {
  const pods = fc.array(aPod, { maxLength: 8 });
  fc.assert(
    fc.property(aPod, fc.array(aNode, { minLength: 1, maxLength: 4 }), pods, ({ on: _on, ...given }, zones, others) => {
      const nodes = zones.map(nodeOf);
      const placed = others.map(podOf);
      const pod = podOf(given, 99);
      const ledger = new Ledger();
      for (const other of placed) ledger.see(other);
      const check = podAffinityCheck(pod, { ledger, nodes });
      const kinds = [
        ["node(s) didn't match pod affinity rules", "affinity"],
        ["node(s) didn't match pod anti-affinity rules", "anti-affinity"],
        ["node(s) didn't satisfy existing pods anti-affinity rules", "existing pods"],
      ] as const;
      for (const node of nodes) {
        const reason = check(node)?.reasons[0];
        expect(kinds.find(([text]) => text === reason)?.[1]).toBe(naive(pod, node, nodes, placed));
      }
    }),
    { numRuns: 2_000 },
  );
});

test("with a thousand nodes, the Pods of each node are read at most once per term", () => {
  class CountingLedger extends Ledger {
    reads = 0;
    override podsOn(node: string): readonly Pod[] {
      this.reads += 1;
      return super.podsOn(node);
    }
  }
  const nodes = Array.from({ length: 1_000 }, (_, index) => nodeOf({ zone: "x" }, index));
  const ledger = new CountingLedger();
  const labelSelector = { matchLabels: { app: "a" } };
  const terms = { requiredDuringSchedulingIgnoredDuringExecution: [{ labelSelector, topologyKey: "host" }] };
  for (let index = 0; index < 1_000; index += 1) ledger.see(podOf({ namespace: "one", app: "b", affinity: undefined, on: index }, index));
  const check = podAffinityCheck(podOf({ namespace: "one", app: "a", affinity: { podAffinity: terms, podAntiAffinity: terms } }, 9_999), {
    ledger,
    nodes,
  });
  expect(nodes.filter((node) => check(node) === undefined).length).toBe(1_000);
  expect(ledger.reads).toBe(2_000);
});
