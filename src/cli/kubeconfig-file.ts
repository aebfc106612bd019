/** A kubeconfig for an API server that runs here, readable by its owner alone. */
import { chmod, writeFile } from "node:fs/promises";
import { describeThrown, fromPromise, type Result } from "#base";
import { formatYaml } from "#kube";
import type { Endpoint } from "#embedded-cluster";

export function writeKubeconfig(path: string, server: Endpoint, token: string): Promise<Result<void, string>> {
  const write = async () => {
    await writeFile(path, kubeconfigOf(server, token), { mode: 0o600 });
    await chmod(path, 0o600); // a file that was there before keeps its mode
  };
  return fromPromise(write(), (thrown) => `the kubeconfig ${path} cannot be written: ${describeThrown(thrown)}`);
}

function kubeconfigOf({ url, certificateAuthority }: Endpoint, token: string): string {
  const trust = certificateAuthority === undefined ? {} : { "certificate-authority-data": btoa(certificateAuthority) };
  return formatYaml({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "lattice",
    clusters: [{ name: "lattice", cluster: { server: url, ...trust } }],
    users: [{ name: "lattice", user: { token } }],
    contexts: [{ name: "lattice", context: { cluster: "lattice", user: "lattice" } }],
  });
}
