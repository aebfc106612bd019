/** `lattice api-server` with its controllers, used with real kubectl: what a story needs in place of a real control plane. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ServerProcess } from "../../builders/api-server/server-process.ts";
import { runProgram, sharedPlane, type PlaneAccess } from "../harness/index.ts";

export type EmbeddedPlane = Pick<PlaneAccess, "kubeconfigPath" | "binaries" | "kubectl" | "kubectlOk"> & {
  readonly stop: () => Promise<void>;
};

export async function embeddedPlane(): Promise<EmbeddedPlane> {
  const home = mkdtempSync(join(tmpdir(), "lattice-embedded-plane-"));
  const kubeconfigPath = join(home, "kubeconfig");
  const server = new ServerProcess(home, ["--kubeconfig-out", kubeconfigPath], { controllers: true });
  if ((await server.url()) === undefined) throw new Error(`the server did not start: ${server.stderr}`);
  const { binaries } = sharedPlane();
  const kubectl: PlaneAccess["kubectl"] = (args, { stdin, limitMs } = {}) =>
    runProgram(join(binaries, "kubectl"), [`--cache-dir=${join(home, "cache")}`, ...args], {
      env: { PATH: process.env["PATH"], HOME: home, KUBECONFIG: kubeconfigPath },
      stdin,
      limitMs,
    });
  return {
    kubeconfigPath,
    binaries,
    kubectl,
    kubectlOk: async (args, options) => {
      const ran = await kubectl(args, options);
      if (ran.code !== 0) throw new Error(`kubectl ${args.join(" ")} ended with code ${ran.code}: ${ran.stderr.trim()}`);
      return ran.stdout;
    },
    stop: async () => {
      await server.kill();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
