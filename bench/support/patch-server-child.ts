/** An embedded API server of the bench `admission-patch` in a process of its own, started as `lattice api-server --no-controllers` does. */
import { systemClock } from "#base";
import { startEmbeddedCluster } from "#embedded-cluster";
import { collectGarbage } from "./collect-garbage.ts";

process.on("message", (request) => void (request === "collect" ? collect() : serve()));
process.on("disconnect", () => process.exit(0));

async function serve(): Promise<void> {
  const cluster = await startEmbeddedCluster({ clock: systemClock, random: Math.random, logActions: false });
  process.send?.(await cluster.kubeconfig());
}

function collect(): void {
  collectGarbage();
  process.send?.("collected");
}
