/** The commands of docs/guides/clusters.md with unmodified kubectl, on the clusters of `lattice up --cell`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { fleetCommands, GuideRun } from "../builders/clusters-guide.ts";
import { runProgram, sharedPlane } from "./harness/index.ts";

const home = mkdtempSync(join(tmpdir(), "lattice-clusters-guide-home-"));
const run = new GuideRun(async (args, { kubeconfig, cwd }) => {
  const env = { PATH: process.env["PATH"], HOME: home, KUBECONFIG: kubeconfig };
  const { code, stdout, stderr } = await runProgram(join(sharedPlane().binaries, "kubectl"), args, { env, cwd, limitMs: 300_000 });
  if (code !== 0) throw new Error(`kubectl ${args.join(" ")} ended with code ${code}: ${stderr}`);
  return stdout;
});

afterAll(async () => {
  await run.end();
  rmSync(home, { recursive: true, force: true });
}, 60_000);

const SHOWN: Readonly<Record<string, RegExp>> = {
  "kubectl apply -f examples/clusters/local.yaml": /^latticecluster.lattice.dev\/dev created$/m,
  "kubectl wait --for=condition=AgentConnected --timeout=5m lc/dev": /^latticecluster.lattice.dev\/dev condition met$/m,
  "kubectl get lc": /^mgmt +Ready .*$/m,
  "KUBECONFIG=.lattice/clusters/dev/kubeconfig kubectl get nodes": /^dev-control-plane-\S+ +Ready /m,
  "kubectl delete lc dev": /"dev" deleted/,
};

test.for(fleetCommands())("%s", { timeout: 310_000 }, async (command) => {
  expect(await run.run(command)).toMatch(SHOWN[command] ?? /^/);
});
