/** Two operators on a real API server, with the ServiceAccount and the shipped roles: only the leader's listener accepts, and a takeover is in time. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { formatYamlDocuments } from "#kube";
import { OPERATOR_NAME, operatorRbac } from "#operator";
import { listenerHandover } from "../builders/listener-handover.ts";
import { installLatticeCrds, sharedPlane, uniqueName } from "./harness/index.ts";

test(
  "only the leader's listener accepts; the leader is killed: the other accepts within lease duration + retry period",
  { timeout: 120_000 },
  async () => {
    const plane = sharedPlane();
    const namespace = uniqueName("listener");
    const folder = mkdtempSync(join(tmpdir(), "lattice-listener-story-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    await installLatticeCrds(plane);
    await plane.kubectlOk(["apply", "--server-side", "-f", "-"], { stdin: formatYamlDocuments(operatorRbac(namespace)) });
    const kubeconfig = join(folder, "kubeconfig");
    const user = `system:serviceaccount:${namespace}:${OPERATOR_NAME}`;
    writeFileSync(kubeconfig, plane.kubeconfigFor(user, ["system:serviceaccounts"]), { mode: 0o600 });
    const tookMs = await listenerHandover({ kubeconfig, namespace });
    console.log(`the other listener accepted ${Math.round(tookMs)} ms after the leader was killed, on a lease of 5 s`);
  },
);
