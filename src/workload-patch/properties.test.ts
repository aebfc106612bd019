/** A patched Deployment, whatever its owner does with it, is after the revert as if it had never been patched. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { canonicalJson, field, type JsonObject, type KubeObject } from "#kube";
import { applyJsonPatch, applyStrategicMergePatch, builtinSchema, type Json } from "#patch";
import { OWNER_TOOLS, type OwnerTool } from "../../test/builders/owner-tools.ts";
import { ownerDeployments, workloadPatches } from "../../test/builders/random-workloads.ts";
import {
  applyWorkloadPatch,
  formatWorkloadPatch,
  jsonPatchBetween,
  parseWorkloadPatch,
  revertWorkloadPatch,
  type WorkloadPatch,
} from "./index.ts";

const RUNS = { numRuns: 100 };
const timeAt = (minute: number) =>
  `2026-01-01T${String(Math.floor(minute / 60) % 24).padStart(2, "0")}:${String(minute % 60).padStart(2, "0")}:00Z`;
const specText = (deployment: KubeObject) => JSON.stringify(field(deployment, "spec"));

function patched(deployment: KubeObject, patch: WorkloadPatch, at = timeAt(0), previous?: KubeObject): KubeObject {
  return expectOk(applyWorkloadPatch(deployment, patch, { at, previous })).deployment;
}

describe("any patch on any Deployment", () => {
  test("is reverted exactly", () => {
    fc.assert(
      fc.property(ownerDeployments, workloadPatches, (owned, patch) => {
        const reverted = revertWorkloadPatch(patched(owned, patch));
        expect(JSON.stringify(reverted.deployment)).toBe(JSON.stringify(owned));
        expect(reverted.kept).toEqual([]);
      }),
      RUNS,
    );
  });

  test("is idempotent, also through text and at another time", () => {
    fc.assert(
      fc.property(ownerDeployments, workloadPatches, (owned, patch) => {
        const once = patched(owned, patch);
        const parsed = expectOk(parseWorkloadPatch(formatWorkloadPatch(patch)));
        const again = expectOk(
          applyWorkloadPatch(JSON.parse(JSON.stringify(once)) as KubeObject, parsed, { at: timeAt(99), previous: once }),
        );
        expect(again.changed).toBe(false);
      }),
      RUNS,
    );
  });

  test("never changes its input, and its JSON Patch gives the result", () => {
    fc.assert(
      fc.property(ownerDeployments, workloadPatches, (owned, patch) => {
        const text = JSON.stringify(owned);
        const result = patched(owned, patch);
        expect(JSON.stringify(owned)).toBe(text);
        const operations = jsonPatchBetween(owned, result) as unknown as readonly Json[];
        expect(expectOk(applyJsonPatch(owned as unknown as Json, operations))).toEqual(result);
      }),
      RUNS,
    );
  });

  test("is replaced by another patch as if the first had never been there", () => {
    fc.assert(
      fc.property(ownerDeployments, workloadPatches, workloadPatches, (owned, first, second) => {
        const both = patched(patched(owned, first), second, timeAt(1));
        expect(specText(both)).toBe(specText(patched(owned, second)));
        expect(specText(revertWorkloadPatch(both).deployment)).toBe(specText(owned));
      }),
      RUNS,
    );
  });

  test("is a strategic merge patch where the owner has no element with the same key", () => {
    const schema = builtinSchema({ group: "apps", version: "v1", kind: "Deployment" });
    if (schema === undefined) throw new Error("no schema of Deployment");
    fc.assert(
      fc.property(ownerDeployments, workloadPatches, (owned, given) => {
        const bare = withoutLists(owned);
        const patch = { ...given, envFrom: {}, variables: {}, patch: withoutMissing(given.patch) };
        const labels = { "lattice.dev/service": "web" };
        const labelled = { metadata: { labels }, spec: { template: { metadata: { labels } } } };
        const merged = [labelled, inLists(patch.patch)].reduce(
          (at, next) => expectOk(applyStrategicMergePatch(at, next, schema)),
          bare as unknown as Json,
        );
        expect(field(patched(bare, patch), "spec")).toEqual(field(merged, "spec"));
      }),
      RUNS,
    );
  });
});

type AnyContainer = { readonly name: string; readonly env?: readonly JsonObject[] };
type AnyPod = { readonly containers: readonly AnyContainer[]; readonly initContainers?: readonly AnyContainer[] };
type AnyTemplate = { readonly spec: { readonly template: { readonly spec: AnyPod } } };

function withPod(owned: KubeObject, pod: object): KubeObject {
  const { spec } = owned as unknown as AnyTemplate;
  return { ...owned, spec: { ...spec, template: { ...spec.template, spec: pod } } } as unknown as KubeObject;
}

function withoutLists(owned: KubeObject): KubeObject {
  const containers = podOf(owned).containers.map(({ name }) => ({ name, image: "owner" }));
  return withPod(owned, { containers, initContainers: [{ name: "init", image: "owner", restartPolicy: "Always" }] });
}

function withoutMissing(patch: WorkloadPatch["patch"]): WorkloadPatch["patch"] {
  const { spec } = patch as unknown as AnyTemplate;
  const containers = spec.template.spec.containers.filter(({ name }) => name !== "gone");
  return { spec: { template: { ...spec.template, spec: { ...spec.template.spec, containers } } } };
}

/** As the owner would write it: each container in its list. */
function inLists(patch: WorkloadPatch["patch"]): Json {
  const { spec } = patch as unknown as AnyTemplate;
  const [init, containers] = [true, false].map((is) => spec.template.spec.containers.filter(({ name }) => (name === "init") === is));
  const lists = init?.length === 0 ? { containers } : { containers, initContainers: init };
  return { spec: { template: { ...spec.template, spec: { ...spec.template.spec, ...lists } } } };
}

/** The owner keeps the variables that the patch removed: a write that lacks them looks like one of another field. */
function withRemoved(live: KubeObject, from: KubeObject, to: KubeObject): KubeObject {
  const has = (env: AnyContainer["env"], { name }: JsonObject) => env?.some((element) => element["name"] === name) === true;
  const named = (list: readonly AnyContainer[] | undefined, name: string) => list?.find((container) => container.name === name)?.env;
  const kept = (list: "containers" | "initContainers") =>
    podOf(to)[list]?.map((container) => {
      const [now, before] = [live, from].map((object) => named(podOf(object)[list], container.name));
      const removed = before?.filter((element) => !has(now, element) && !has(container.env, element)) ?? [];
      return removed.length === 0 ? container : { ...container, env: [...(container.env ?? []), ...removed] };
    });
  const initContainers = kept("initContainers");
  return withPod(to, { ...podOf(to), ...(initContainers === undefined ? {} : { initContainers }), containers: kept("containers") });
}

const podOf = (deployment: KubeObject) => (deployment as unknown as AnyTemplate).spec.template.spec;

describe("an owner that upgrades its Deployment while it is patched", () => {
  const tools = Object.entries(OWNER_TOOLS).map(([name, tool]) => ({ name, tool }));
  const upgrades = fc.array(fc.record({ to: ownerDeployments, patch: fc.option(workloadPatches, { nil: undefined }) }), {
    minLength: 1,
    maxLength: 4,
  });

  function upgradeAll(
    tool: OwnerTool,
    owned: KubeObject,
    first: WorkloadPatch,
    steps: readonly { to: KubeObject; patch: WorkloadPatch | undefined }[],
  ) {
    let state = { plain: owned, live: patched(owned, first), from: owned, patch: first };
    for (const [minute, { to: next, patch = state.patch }] of steps.entries()) {
      const to = withRemoved(state.live, state.from, next);
      const [plain, incoming] = [tool(state.plain, state.from, to), tool(state.live, state.from, to)];
      state = { plain, live: patched(incoming, patch, timeAt(20 * minute + 1), state.live), from: to, patch };
    }
    return state;
  }

  test.each(tools)("keeps the patch, and gets its own Deployment back: $name", ({ tool }) => {
    fc.assert(
      fc.property(ownerDeployments, workloadPatches, upgrades, (owned, first, steps) => {
        const { plain, live, patch } = upgradeAll(tool, owned, first, steps);
        expect(canonicalJson(field(live, "spec"))).toBe(canonicalJson(field(patched(plain, patch), "spec")));
        expect(canonicalJson(revertWorkloadPatch(live).deployment)).toBe(canonicalJson(plain));
      }),
      RUNS,
    );
  });
});
