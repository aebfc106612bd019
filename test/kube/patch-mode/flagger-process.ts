/**
 * The real Flagger as a process, with its published roles, for the Canaries of one namespace. It has the mesh provider `kubernetes`, so promotions shift
 * no traffic, and a metrics server that does not listen, so a Canary may have no metrics.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expectOk } from "#base";
import { tokenKubeconfig } from "../cluster-api/operator-pod.ts";
import { findFreePorts } from "../harness/free-ports.ts";
import { eventually, FLAGGER_MODULE, moduleFolder, type PlaneAccess } from "../harness/index.ts";
import { ProcessGroup } from "../harness/process-group.ts";

export type FlaggerProcess = { readonly log: () => string; readonly close: () => Promise<void> };

/** Applies the roles of Flagger's own manifests; the ServiceAccount is in `default`. */
export async function installFlaggerRoles(plane: PlaneAccess): Promise<void> {
  const folder = expectOk(await moduleFolder(FLAGGER_MODULE));
  await plane.kubectlOk(["apply", "-f", join(folder, "artifacts/flagger/account.yaml")]);
}

type FlaggerOptions = { readonly binaries: string; readonly namespace: string; readonly flags: readonly string[] };

/** Resolves when it answers. */
export async function startFlagger(plane: PlaneAccess, { binaries, namespace, flags }: FlaggerOptions): Promise<FlaggerProcess> {
  const parent = mkdtempSync(join(tmpdir(), "lattice-flagger-"));
  const folder = join(parent, "run");
  const group = expectOk(await ProcessGroup.open(folder));
  const [port = 0, unused = 0] = expectOk(await findFreePorts(2));
  const kubeconfig = join(folder, "kubeconfig");
  const token = (await plane.kubectlOk(["create", "token", "flagger", "-n", "default"])).trim();
  writeFileSync(kubeconfig, tokenKubeconfig(plane, token), { mode: 0o600 });
  const log = join(folder, "flagger.log");
  const args = [
    `-kubeconfig=${kubeconfig}`,
    `-namespace=${namespace}`,
    `-port=${port}`,
    `-metrics-server=http://127.0.0.1:${unused}`,
    "-mesh-provider=kubernetes",
    "-control-loop-interval=1s",
    "-log-level=info",
    ...flags,
  ];
  await group.start({ name: "flagger", path: join(binaries, "flagger"), args, log });
  await eventually("Flagger answers", async () => (await fetch(`http://127.0.0.1:${port}/healthz`)).ok || undefined);
  const close = async () => {
    await group.close();
    rmSync(parent, { recursive: true, force: true });
  };
  return { log: () => readFileSync(log, "utf8"), close };
}
