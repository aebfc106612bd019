/**
 * The manifests that a new cluster gets when it registers, applied twice by real kubectl to a real API server: published Cluster API with its
 * providers and CRDs. Cilium is a stand-in here; `all/bootstrap-stream-cilium.story.test.ts` has its chart.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { loadBundle } from "#bundle";
import { COMPILED_CLUSTER_CRDS, publishedCrds, sharedPlane } from "./harness/index.ts";
import { publishedBundle } from "./cluster-api/published-bundle.ts";
import { registeredStream } from "./cluster-api/registered-stream.ts";
import { expectAppliedTwice, inventoryLine } from "./cluster-api/stream-twice.ts";

let folder = "";
let stream = "";
let unavailable: string | undefined;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lattice-stream-story-"));
  const modules = COMPILED_CLUSTER_CRDS.filter(
    ({ module }) => module.startsWith("sigs.k8s.io/cluster-api") && !module.includes("provider"),
  );
  const published = await publishedCrds(modules);
  if (published.ok) stream = await registeredStream(expectOk(loadBundle(await publishedBundle(sharedPlane(), join(folder, "bundle")))));
  else unavailable = published.error;
  if (unavailable !== undefined) console.log(`the manifests of a new cluster are not checked on a real API server: ${unavailable}`);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the manifests of a new cluster", () => {
  test.for([
    { form: "kubectl apply --server-side", flags: ["--server-side"] },
    { form: "kubectl apply", flags: [] },
  ])("are complete after one $form, and the second one changes nothing", { timeout: 240_000 }, async ({ flags }, { skip }) => {
    if (unavailable !== undefined) skip(unavailable);
    expect(stream).toContain("kubeadmcontrolplanes.controlplane.cluster.x-k8s.io");
    await expectAppliedTwice(stream, flags);
  });

  test("of provider local, with its reduced kinds, are complete after one run too", { timeout: 240_000 }, async () => {
    const inventory = [
      inventoryLine("capi-system/cluster-api", "CoreProvider", "v1.14.2"),
      inventoryLine("capi-kubeadm-bootstrap-system/bootstrap-kubeadm", "BootstrapProvider", "v1.14.2"),
      inventoryLine("capi-kubeadm-control-plane-system/control-plane-kubeadm", "ControlPlaneProvider", "v1.14.2"),
      inventoryLine("capl-system/infrastructure-local", "InfrastructureProvider", "v0.1.0"),
    ];
    await expectAppliedTwice(await registeredStream(), ["--server-side"], inventory);
  });
});
