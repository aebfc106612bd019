/** A kubeconfig for one user of a cluster that listens. */
import { formatYaml } from "#kube";

export type KubeconfigParts = {
  readonly url: string;
  readonly certificateAuthority: string | undefined;
  readonly user: string;
  readonly token: string;
};

export function kubeconfigText({ url, certificateAuthority, user, token }: KubeconfigParts): string {
  const trust = certificateAuthority === undefined ? {} : { "certificate-authority-data": btoa(certificateAuthority) };
  return formatYaml({
    apiVersion: "v1",
    kind: "Config",
    "current-context": "lattice",
    clusters: [{ name: "lattice", cluster: { server: url, ...trust } }],
    users: [{ name: user, user: { token } }],
    contexts: [{ name: "lattice", context: { cluster: "lattice", user } }],
  });
}
