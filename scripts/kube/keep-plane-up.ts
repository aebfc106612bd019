/** `npm run test:kube -- --up`: runs a control plane until Ctrl-C. */
import { join } from "node:path";
import { startPlane } from "../../test/kube/harness/real-plane.ts";

/** Resolves with the exit code when the plane has stopped. */
export async function keepPlaneUp(binaries: string): Promise<number> {
  // a parent process with an IPC channel, such as a story, stops this process by its exit, and with it the plane
  process.once("disconnect", () => process.exit(1));
  console.log("starting etcd, kube-apiserver and kube-controller-manager (about 10 s)");
  const started = await startPlane({ binaries });
  if (!started.ok) {
    console.error(started.error.message);
    return 1;
  }
  const plane = started.value;
  console.log(`
${plane.url} is up; processes: ${plane.processIds().join(" ")}; logs: ${join(plane.folder, "logs")}

  export KUBECONFIG=${plane.kubeconfigPath}
  alias kubectl=${join(binaries, "kubectl")}
  kubectl apply --server-side -f deploy/crds

Ctrl-C ends it and removes everything.`);
  await untilSignalled();
  await plane.stop();
  console.log("stopped; all its files are removed");
  return 0;
}

function untilSignalled(): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => resolve());
  });
}
