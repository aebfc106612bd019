/**
 * The two Secrets of a child: its one-time token, which its first node gets with its bootstrap data, and the kubeconfig with which Cluster API
 * reaches it through the cell.
 *
 * Both need the label of Cluster API, or its managers do not see them. The kubeconfig must be of type Opaque: one of Cluster API's own type would
 * be adopted, and its client certificate renewed, which it does not have. It must exist before the KubeadmControlPlane, whose provider would
 * otherwise create one that dials the child.
 */
import { base64OfText, reveal, sha256Hex, type Sensitive } from "#base";
import { CLUSTER_NAME_LABEL, tokenSecretName } from "#cluster-compiler";
import { formatYaml, type KubeObject } from "#kube";
import { kubeconfigSecretOf } from "./names.ts";
import type { CellView } from "./observed.ts";

/** A digest of server and authority in the kubeconfig: it is written again when one of them changes. */
export const KUBECONFIG_ANNOTATION = "lattice.dev/kubeconfig-of";

export type ChildSecret = KubeObject & { readonly type: "Opaque"; readonly data: Readonly<Record<string, string>> };

/** A child, where its objects are, and its cell. */
export type ChildPlace = { readonly name: string; readonly namespace: string; readonly cell: CellView };

export function bootstrapSecret({ name, namespace }: ChildPlace, token: Sensitive<string>): ChildSecret {
  return secretOf({ name: tokenSecretName(name), namespace, labels: { [CLUSTER_NAME_LABEL]: name } }, { token: reveal(token) });
}

export function kubeconfigSecret(place: ChildPlace, token: Sensitive<string>): ChildSecret {
  const { name, namespace } = place;
  const metadata = {
    name: kubeconfigSecretOf(name),
    namespace,
    labels: { [CLUSTER_NAME_LABEL]: name },
    annotations: { [KUBECONFIG_ANNOTATION]: kubeconfigDigest(place) },
  };
  return secretOf(metadata, { value: kubeconfigText(place, reveal(token)), token: reveal(token) });
}

export function kubeconfigDigest({ name, cell }: ChildPlace): string {
  return sha256Hex(`${proxyUrl(name, cell)}\n${cell.trustBundle}`).slice(0, 32);
}

/** Where the cell serves the API of a child. */
function proxyUrl(name: string, { host, proxyPort }: CellView): string {
  return `https://${host.includes(":") ? `[${host}]` : host}:${proxyPort}/clusters/${name}`;
}

/** The entry of `clusters` must have the name of the Cluster. */
function kubeconfigText({ name, cell }: ChildPlace, token: string): string {
  return formatYaml({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: proxyUrl(name, cell), "certificate-authority-data": base64OfText(cell.trustBundle) } }],
    users: [{ name: "lattice-cell", user: { token } }],
    contexts: [{ name, context: { cluster: name, user: "lattice-cell" } }],
    "current-context": name,
  });
}

function secretOf(metadata: KubeObject["metadata"], texts: Readonly<Record<string, string>>): ChildSecret {
  const data = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, base64OfText(text)]));
  return { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data };
}
