/**
 * Unmodified kubectl against an embedded cluster with its controllers, and against the real plane: the same commands, side by side, must say
 * the same. Neither has a kubelet or a scheduler, so Pods stay Pending on both.
 */
import { join } from "node:path";
import { afterAll, beforeAll, describe, test } from "vitest";
import { expectOk, reveal } from "#base";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { createCertificateAuthority, issueCertificate } from "#pki";
import { realPlane, uniqueName, type RealPlane } from "./harness/index.ts";
import { clusterCommands, FILES } from "./kubectl/cluster-commands.ts";
import { Bench, type Side } from "./kubectl/compare.ts";

const NAMESPACE = uniqueName("kubectl");
const OWN = uniqueName("own");
let bench: Bench;
let cluster: EmbeddedCluster;
let ours: Side;
let real: Side;
/** Of its own: other stories define kinds and make nodes. */
let plane: RealPlane;

beforeAll(async () => {
  bench = new Bench(NAMESPACE, [...FILES, ...certificatePair()]);
  plane = await realPlane();
  const kubectl = join(plane.binaries, "kubectl");
  cluster = await startEmbeddedCluster({ controllers: { simulation: false }, logActions: false });
  ours = { kubectl, kubeconfig: bench.write("ours.kubeconfig", await cluster.kubeconfig()) };
  real = { kubectl, kubeconfig: bench.write("real.kubeconfig", plane.kubeconfigText) };
});

afterAll(async () => {
  await cluster.close();
  bench.close();
  await plane.stop();
});

/** kubectl checks that the two fit together. */
function certificatePair(): readonly (readonly [string, string])[] {
  const valid = { notBefore: new Date(Date.now() - 60_000), notAfter: new Date(Date.now() + 3_600_000) };
  const authority = expectOk(createCertificateAuthority({ commonName: "kubectl", ...valid }));
  const pair = expectOk(issueCertificate(authority, { commonName: "x", usages: ["server"], ...valid }));
  return [
    ["tls.crt", pair.certificate],
    ["tls.key", reveal(pair.key)],
  ];
}

describe("kubectl cannot tell an embedded cluster from a real one", () => {
  const titled = clusterCommands(OWN, NAMESPACE).map((command, at) => {
    const title = command.args.join(" ").replaceAll(NAMESPACE, "NAMESPACE").replaceAll(OWN, "OWN");
    return { ...command, title: `${at + 1}: kubectl ${title}` };
  });
  test.each(titled)("$title", (command) => bench.compare(command, ours, real));
});
