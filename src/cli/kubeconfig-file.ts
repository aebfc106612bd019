/** A kubeconfig for an API server that runs here, readable only by its owner. */
import { mapErr, type Result } from "#base";
import { formatYaml } from "#kube";
import type { Endpoint } from "#embedded-cluster";
import { writePrivateFile } from "#pki";

export function writeKubeconfig(path: string, server: Endpoint, token: string): Result<void, string> {
  return mapErr(writePrivateFile(path, kubeconfigOf(server, token)), (problem) => `the kubeconfig ${problem}`);
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
