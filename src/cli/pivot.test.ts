/** `lattice pivot plan|status|resume|abort` on a parent and a child over HTTP. The operator's part is in src/operator/cell/pivot. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk, seededRandom, systemClock } from "#base";
import { PIVOT_ANNOTATION, PIVOT_REQUEST_ANNOTATION } from "#controllers";
import { latticeClusterKind, latticeClusters } from "#crds";
import type { EmbeddedCluster } from "#embedded-cluster";
import { namespaces, secrets } from "#kube";
import { MOVE_JOURNAL } from "#pivot";
import { runCli, type CliRun } from "../../test/builders/cli-io.ts";
import { makeProvisioned, startManagementCluster } from "../../test/builders/move-world.ts";
import { rawCluster } from "../../test/builders/valid-resources.ts";

let seed = 0;
let cwd = "";
let parent: EmbeddedCluster;
let child: EmbeddedCluster;

beforeAll(async () => {
  cwd = mkdtempSync(join(tmpdir(), "lattice-pivot-"));
  [parent, child] = [await startManagementCluster(71), await startManagementCluster(72)];
  await parent.add(latticeClusterKind.crd());
  await makeProvisioned(parent.client, "prod", 1, "capi-prod");
  await parent.add(rawCluster({ cellRef: "mgmt" }, "prod"), rawCluster({ cellRef: "mgmt" }, "early"));
  await setKubeconfig(await child.kubeconfig({ http: true }));
  await parent.writeKubeconfig(join(cwd, "parent"));
});

afterAll(async () => {
  await parent.close();
  await child.close();
  rmSync(cwd, { recursive: true, force: true });
});

async function setKubeconfig(text: string): Promise<void> {
  const patch = { data: { value: Buffer.from(text).toString("base64") } };
  expectOk(await parent.client.patch(secrets, { namespace: "capi-prod", name: "prod-kubeconfig" }, { type: "merge", patch }));
}

async function setStatus(status: object): Promise<void> {
  expectOk(
    await parent.client.patch(
      latticeClusters,
      { name: "prod" },
      { type: "merge", patch: { status: status as never } },
      { subresource: "status" },
    ),
  );
}

const condition = (reason: string, message: string) => ({
  conditions: [{ type: "Pivoting", status: "False", reason, message, lastTransitionTime: "2026-01-01T00:00:00Z" }],
});

function pivot(...words: readonly string[]): Promise<CliRun> {
  return runCli(["pivot", ...words, "--kubeconfig", join(cwd, "parent")], { cwd, clock: systemClock, random: seededRandom((seed += 1)) });
}

describe("plan", () => {
  test("prints the batches, and every reason to refuse", async () => {
    const refused = await pivot("plan", "prod");
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain(
      "objects of namespace capi-prod in 6 batches, owners first:\nbatch 1: 1 Cluster, 1 ClusterResourceSet, 1 Secret\n",
    );
    expect(refused.stdout).toContain("the move would be refused:\n  the target has no Secret capi-prod/prod-kubeconfig");
    const secret = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "prod-kubeconfig", namespace: "capi-prod" },
      data: { value: "eA==" },
    };
    await child.client.create(namespaces, { apiVersion: "v1", kind: "Namespace", metadata: { name: "capi-prod" } });
    await child.add(secret);
    const planned = await pivot("plan", "prod", "-o", "json");
    expect([planned.code, (JSON.parse(planned.stdout) as { problems: unknown[] }).problems]).toEqual([0, []]);
  });

  test("of a cluster that the parent has no kubeconfig of has one sentence", async () => {
    expect((await pivot("plan", "early")).stderr).toContain(
      "cluster early has no Secret capi-early/early-kubeconfig on this cluster: it is not provisioned far enough",
    );
    expect((await pivot("plan", "nope")).stderr).toBe(
      "lattice: there is no LatticeCluster nope; lattice status lists those of this cluster\n",
    );
  });

  test("uses no file and no program that the kubeconfig names", async () => {
    const whole = await child.kubeconfig({ http: true });
    await setKubeconfig(
      whole.replace(
        / {2}user:\n[\s\S]*?(?=\n\S|$)/,
        "  user:\n    exec: {apiVersion: client.authentication.k8s.io/v1, command: touch, args: [/tmp/owned], interactiveMode: Never}\n",
      ),
    );
    const run = await pivot("plan", "prod");
    expect(run.code).not.toBe(0);
    await setKubeconfig("no kubeconfig");
    expect((await pivot("plan", "prod")).stderr).toContain("Secret capi-prod/prod-kubeconfig");
    await setKubeconfig(whole);
  });
});

describe("status", () => {
  test("has the owner, both sides, and what to do next", async () => {
    await setStatus({ phase: "Pivoting", pivot: { step: "transfer", moved: 3, total: 25 }, ...condition("PivotRefused", "no provider") });
    const { code, stdout } = await pivot("status", "prod");
    expect(code).toBe(0);
    expect(stdout.split("\n")).toEqual([
      "cluster prod: phase Pivoting, owner: parent",
      "pivot: transfer, 3 of 25 objects",
      "condition Pivoting: False (PivotRefused): no provider",
      "parent: no journal, no record",
      "child: no journal, no record",
      "next: remove the reasons: no provider",
      "",
    ]);
    const json = JSON.parse((await pivot("status", "prod", "-o", "json")).stdout) as object;
    expect(json).toMatchObject({
      name: "prod",
      owner: "parent",
      parent: { journal: null, record: null },
      child: { ownership: { state: "never-moved" } },
    });
  });

  test("ends with 1 while the owner is in doubt", async () => {
    const head = {
      id: "0123456789abcdef",
      phase: "committing",
      epoch: 1,
      target: "c",
      source: "p",
      startedAt: "2026-01-01T00:00:00Z",
      pausables: [],
    };
    const data = { journal: Buffer.from(JSON.stringify(head)).toString("base64") };
    const metadata = { name: MOVE_JOURNAL, namespace: "capi-prod", labels: { "lattice.dev/move-journal": "head" } };
    await parent.add({ apiVersion: "v1", kind: "Secret", metadata, data });
    const whole = await child.kubeconfig({ http: true });
    await setKubeconfig("no kubeconfig");
    const { code, stdout } = await pivot("status", "prod");
    await setKubeconfig(whole);
    await parent.client.delete(secrets, { namespace: "capi-prod", name: MOVE_JOURNAL });
    expect([code, stdout]).toEqual([1, expect.stringContaining("owner: in doubt")]);
    expect(stdout).toContain("parent: journal of move 0123456789abcdef, committing, since 2026-01-01T00:00:00Z, no record\n");
    expect(stdout).toContain("next: the commit was sent, and the child does not answer");
  });

  test("of a cluster without objects on the parent still answers", async () => {
    const { code, stdout } = await pivot("status", "early");
    expect([code, stdout]).toEqual([0, expect.stringContaining("child: no kubeconfig of it on this cluster\n")]);
  });
});

describe("requests", () => {
  const requestId = () => parent.peek(latticeClusters, { name: "prod" })?.metadata.annotations?.[PIVOT_REQUEST_ANNOTATION];

  /** As the operator does: the status returns the id of the request that it has read. */
  async function answered(run: Promise<CliRun>, status: object): Promise<CliRun> {
    const before = requestId();
    await parent.waitFor(latticeClusters, { name: "prod" }, () => requestId() !== before);
    await setStatus({ ...status, pivot: { request: requestId() } });
    return run;
  }

  test("annotate the cluster, and print the answer of the operator", async () => {
    const aborted = await answered(pivot("abort", "prod"), condition("PivotAborted", "the pivot was aborted"));
    expect([aborted.code, aborted.stdout]).toEqual([0, "the pivot was aborted\n"]);
    expect(parent.peek(latticeClusters, { name: "prod" })?.metadata.annotations?.[PIVOT_ANNOTATION]).toBe("abort");
    const refused = await answered(pivot("abort", "prod", "-o", "json"), condition("AbortRefused", "the outcome is in doubt"));
    expect([refused.code, JSON.parse(refused.stdout)]).toEqual([
      1,
      { request: "abort", kind: "refused", message: "the outcome is in doubt" },
    ]);
    expect(refused.stderr).toBe("lattice: the outcome is in doubt\n");
    const waited = await pivot("resume", "prod", "--wait", "1s");
    expect([waited.code, waited.stderr]).toEqual([2, expect.stringContaining("the operator has not answered in condition Pivoting yet")]);
    const resumed = await answered(pivot("resume", "prod"), condition("Pivoting", "the objects are being moved"));
    expect(resumed).toMatchObject({ code: 0, stdout: "the objects are being moved\n" });
    expect(parent.peek(latticeClusters, { name: "prod" })?.metadata.annotations?.[PIVOT_ANNOTATION]).toBe("resume");
  });

  test("the answer to an earlier request is no answer", async () => {
    await setStatus({ ...condition("AbortRefused", "the outcome is in doubt"), pivot: { request: requestId() } });
    const waited = await pivot("abort", "prod", "--wait", "1s");
    expect([waited.code, waited.stderr]).toEqual([2, expect.stringContaining("the operator has not answered in condition Pivoting yet")]);
  });

  test("an abort of a cluster that owns itself is refused", async () => {
    await setStatus({ ownedBy: "self" });
    const { code, stderr } = await pivot("abort", "prod");
    await setStatus({ ownedBy: null });
    expect([code, stderr]).toEqual([1, expect.stringContaining("cluster prod owns itself already")]);
  });

  test("a wait that is no duration ends with 2", async () => {
    expect(await pivot("abort", "prod", "--wait", "soon")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--wait: ") as string,
    });
    expect(await pivot("abort", "nope")).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("there is no LatticeCluster nope") as string,
    });
  });
});
