/** Two real API servers with the kinds of Cluster API and nothing else that writes, for moves between them. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KubeClient } from "#kube-client";
import { clientOf } from "../../test/builders/kubeconfig-client.ts";
import { runMoveProcess } from "../../test/builders/move-process.ts";
import { makeProvisioned } from "../../test/builders/move-world.ts";
import { installCapiKinds } from "../../test/kube/cluster-api/bare-capi.ts";
import { runClusterctl } from "../../test/kube/cluster-api/clusterctl.ts";
import { realPlane, type RealPlane } from "../../test/kube/harness/index.ts";

export type TimedMove = { readonly seconds: number; readonly requests: number };

/** Objects of `makeProvisioned` beside those of the workers, without the one that is not moved. */
export const FIXED_OBJECTS = 20;
export const OBJECTS_PER_MACHINE = 4;

type Programs = { readonly binaries: string; readonly program: string };

export class MovePlanes {
  readonly #binaries: string;
  readonly #program: string;
  readonly #source: RealPlane;
  readonly #target: RealPlane;
  readonly #client: KubeClient;
  readonly #folder = mkdtempSync(join(tmpdir(), "lattice-bench-move-"));

  private constructor({ binaries, program }: Programs, [source, target]: readonly [RealPlane, RealPlane], client: KubeClient) {
    [this.#binaries, this.#program] = [binaries, program];
    [this.#source, this.#target, this.#client] = [source, target, client];
  }

  /** `program`: the built one, as users run it. */
  static async start(binaries: string, program: string): Promise<MovePlanes> {
    const options = { binaries, controllerManager: "absent" } as const;
    const planes = [await realPlane(options), await realPlane(options)] as const;
    for (const plane of planes) await installCapiKinds({ kubectl: (...call) => plane.kubectl(...call) });
    return new MovePlanes({ binaries, program }, planes, await clientOf(planes[0].kubeconfigText));
  }

  async fill(name: string, machines: number): Promise<void> {
    await makeProvisioned(this.#client, name, machines);
  }

  lattice(name: string): Promise<TimedMove> {
    return this.#timed(async () => {
      const places = { from: this.#source.kubeconfigPath, to: this.#target.kubeconfigPath, namespace: name, program: this.#program };
      const { code = 1, stderr } = await runMoveProcess(places);
      return { code, stderr };
    });
  }

  clusterctl(name: string): Promise<TimedMove> {
    const args = ["move", "--kubeconfig", this.#source.kubeconfigPath, "--to-kubeconfig", this.#target.kubeconfigPath, "-n", name];
    return this.#timed(() => runClusterctl(args, { binaries: this.#binaries, folder: this.#folder, limitMs: 900_000 }));
  }

  async #timed(move: () => Promise<{ readonly code: number; readonly stderr: string }>): Promise<TimedMove> {
    const before = await this.#requests();
    const began = performance.now();
    const { code, stderr } = await move();
    const seconds = (performance.now() - began) / 1_000;
    if (code !== 0) throw new Error(stderr);
    return { seconds, requests: (await this.#requests()) - before };
  }

  /** That both API servers have counted, but for watches, which they open themselves. */
  async #requests(): Promise<number> {
    let sum = 0;
    for (const plane of [this.#source, this.#target]) {
      for (const line of (await plane.kubectlOk(["get", "--raw", "/metrics"])).split("\n")) {
        if (line.startsWith("apiserver_request_total{") && !line.includes('verb="WATCH"')) sum += Number(line.split(" ").at(-1));
      }
    }
    return sum;
  }

  async close(): Promise<void> {
    await this.#client.close();
    await this.#source.stop();
    await this.#target.stop();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
