import { describe, expect, test } from "vitest";
import { createLogger } from "#base";
import type { ConfigMap } from "#kube";
import { formatWorkloadPatch, workloadPatchName, type WorkloadTarget } from "#workload-patch";
import { PatchIndex } from "./patch-index.ts";

function mapFor(target: WorkloadTarget, service = "shop/s"): ConfigMap {
  const text = formatWorkloadPatch({ version: 1, service, target, patch: {}, envFrom: {}, variables: {} });
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: workloadPatchName(target) }, data: { "patch.json": text } };
}

function newIndex() {
  const [reasons, changes]: [string[], unknown[]] = [[], []];
  const logger = createLogger((_level, _message, { reason }) => void reasons.push(String(reason)));
  const index = new PatchIndex({ home: "lattice-system", logger, onTargets: () => changes.push(index.targets()) });
  return { index, reasons, changes };
}

const API = { namespace: "shop", name: "api" };
const WEB = { namespace: "bank", name: "web.v2" };

describe("the index of workload patches", () => {
  test("finds a patch by its Deployment, and reports when the set of Deployments changes", () => {
    const { index, changes } = newIndex();
    index.put(mapFor(API));
    index.put(mapFor(WEB));
    index.put(mapFor(API, "shop/other"));
    expect(index.find("shop", "api")?.service).toBe("shop/other");
    expect(index.find("bank", "api")).toBeUndefined();
    index.remove(workloadPatchName(API));
    index.remove("unknown");
    expect(index.find("shop", "api")).toBeUndefined();
    expect(changes).toEqual([[API], [WEB, API], [WEB]]);
  });

  test("keys of Object.prototype are no Deployments", () => {
    const { index } = newIndex();
    expect(index.find("__proto__", "constructor")).toBeUndefined();
  });

  test.each<{ name: string; given: ConfigMap; want: string }>([
    { name: "no text", given: { ...mapFor(API), data: {} }, want: 'data["patch.json"]: is missing' },
    { name: "no JSON", given: { ...mapFor(API), data: { "patch.json": "{" } }, want: "" },
    {
      name: "another ConfigMap's Deployment",
      given: { ...mapFor(API), metadata: { name: "workload-patch-0" } },
      want: "metadata.name: must be workload-patch-",
    },
    {
      name: "a system namespace",
      given: mapFor({ namespace: "kube-system", name: "coredns" }),
      want: "Deployments of namespace kube-system are never patched",
    },
    { name: "the operator's namespace", given: mapFor({ namespace: "lattice-system", name: "x" }), want: "are never patched" },
    { name: "a name that is none", given: mapFor({ namespace: "shop", name: '"]||true||["' }), want: "" },
  ])("a patch with $name has no effect, and is logged once", ({ given, want }) => {
    const { index, reasons } = newIndex();
    index.put(given);
    index.put({ ...given, metadata: { ...given.metadata, resourceVersion: "2" } });
    expect(index.targets()).toEqual([]);
    expect(index.ignored).toBe(1);
    expect(reasons).toEqual([expect.stringContaining(want) as string]);
    index.remove(given.metadata.name);
    expect(index.ignored).toBe(0);
  });

  test("a patch that becomes unreadable is no longer applied, until it is corrected", () => {
    const { index, changes } = newIndex();
    index.put(mapFor(API));
    const unreadable: ConfigMap = { ...mapFor(API), data: { "patch.json": "null" } };
    index.put(unreadable);
    expect(index.find("shop", "api")).toBeUndefined();
    index.put(mapFor(API));
    expect(changes).toEqual([[API], [], [API]]);
  });
});
