/**
 * Unmodified kubectl against an embedded cluster with its controllers, and against the real plane: the same commands must have the same
 * output. Neither has a kubelet or a scheduler, so Pods stay Pending on both.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, test } from "vitest";
import { expectOk, reveal } from "#base";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { createCertificateAuthority, issueCertificate } from "#pki";
import { realPlane, uniqueName, type RealPlane } from "./harness/index.ts";
import { clusterCommands, FILES } from "./kubectl/cluster-commands.ts";
import { KubectlComparison, type Side } from "./kubectl/compare.ts";

const NAMESPACE = uniqueName("kubectl");
const OWN = uniqueName("own");
let comparison: KubectlComparison;
let cluster: EmbeddedCluster;
let ours: Side;
let real: Side;
/** A separate plane: other stories define kinds and create nodes. */
let plane: RealPlane;

beforeAll(async () => {
  comparison = new KubectlComparison(NAMESPACE, [...FILES, ...certificatePair()]);
  plane = await realPlane();
  const kubectl = join(plane.binaries, "kubectl");
  cluster = await startEmbeddedCluster({ controllers: { simulation: false }, logActions: false });
  ours = { kubectl, kubeconfig: comparison.write("ours.kubeconfig", await cluster.kubeconfig()) };
  real = { kubectl, kubeconfig: comparison.write("real.kubeconfig", plane.kubeconfigText) };
});

afterAll(async () => {
  await cluster.close();
  comparison.close();
  await plane.stop();
});

/** kubectl checks that key and certificate match. */
function certificatePair(): readonly (readonly [string, string])[] {
  const valid = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) };
  const authority = expectOk(createCertificateAuthority({ commonName: "kubectl", ...valid }));
  const pair = expectOk(issueCertificate(authority, { commonName: "x", usages: ["server"], ...valid }));
  return [
    ["tls.crt", pair.certificate],
    ["tls.key", reveal(pair.key)],
  ];
}

describe("kubectl has the same output on an embedded cluster and on a real one", () => {
  const titled = clusterCommands(OWN, NAMESPACE).map((command, at) => {
    const title = command.args.join(" ").replaceAll(NAMESPACE, "NAMESPACE").replaceAll(OWN, "OWN");
    return { ...command, title: `${at + 1}: kubectl ${title}` };
  });
  test.each(titled)("$title", (command) => comparison.compare(command, ours, real));
});
