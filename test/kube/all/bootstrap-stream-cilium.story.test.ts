/**
 * The manifests that a new cluster gets when it registers, with the published components of Cluster API and Cilium's own chart, applied twice by real
 * kubectl to a real API server. Helm is built when this story runs; only `npm run test:kube -- --all` runs it.
 *
 * The chart has no CRDs: Cilium's operator installs them. The pool of addresses therefore waits for them, in the operator of the cluster.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { loadBundle } from "#bundle";
import { obtainPrograms } from "../../../scripts/kube/obtain-binaries.ts";
import { HELM } from "../../../scripts/kube/versions.ts";
import { publishedBundle } from "../cluster-api/published-bundle.ts";
import { registeredStream } from "../cluster-api/registered-stream.ts";
import { expectAppliedTwice } from "../cluster-api/stream-twice.ts";
import { CILIUM, moduleFolder, runProgram, sharedPlane } from "../harness/index.ts";

const BUILD_LIMIT_MS = 3_600_000;
const say = (line: string) => console.log(`helm: ${line}`);
/** Cilium beside Istio's ambient mode, as docs/guides/bundle.md says. */
const SETTINGS = ["--set", "cni.exclusive=false", "--set", "socketLB.hostNamespaceOnly=true"];

let folder = "";
let stream = "";
let skipped: string | undefined;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lattice-cilium-story-"));
  const plane = sharedPlane();
  const obtained = await obtainPrograms([HELM], { beside: plane.binaries, environment: process.env, say });
  if (obtained.kind === "failed") throw new Error(obtained.why);
  if (obtained.kind === "skipped") return void (skipped = obtained.why);
  const chart = join(expectOk(await moduleFolder(CILIUM)), "install/kubernetes/cilium");
  const env = { PATH: process.env["PATH"], HOME: folder };
  const rendered = await runProgram(join(obtained.folder, HELM.name), ["template", "cilium", chart, "-n", "kube-system", ...SETTINGS], {
    env,
  });
  expect([rendered.code, rendered.stderr]).toEqual([0, ""]);
  const bundle = await publishedBundle(plane, join(folder, "bundle"), rendered.stdout);
  stream = await registeredStream(expectOk(loadBundle(bundle)));
}, BUILD_LIMIT_MS);

afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("the manifests of a new cluster with Cilium", () => {
  test.for([
    { form: "kubectl apply --server-side", flags: ["--server-side"] },
    { form: "kubectl apply", flags: [] },
  ])("are complete after one $form, and the second one changes nothing", { timeout: 240_000 }, async ({ flags }, { skip }) => {
    if (skipped !== undefined) skip(skipped);
    expect(stream).toContain("quay.io/cilium/cilium:v1.20.2");
    expect(stream).toContain("cni-exclusive: 'false'");
    await expectAppliedTwice(stream, flags);
  });
});
