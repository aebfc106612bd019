/**
 * The paths of the bootstrap server, matched on the text of the request line: nothing is decoded or normalised, so that `%2f` and `..` are part of a
 * name that no cluster has.
 */
const CLUSTER_ENDPOINTS = ["csr", "renew", "report"] as const;

export type BootstrapRoute =
  | { readonly endpoint: "register" }
  | { readonly endpoint: (typeof CLUSTER_ENDPOINTS)[number]; readonly cluster: string };

export function routeOf(url: string | undefined): BootstrapRoute | undefined {
  if (url === "/api/clusters/register") return { endpoint: "register" };
  const [, cluster, last] = /^\/api\/clusters\/([^/?#]{1,253})\/([a-z]+)$/.exec(url ?? "") ?? [];
  const endpoint = CLUSTER_ENDPOINTS.find((one) => one === last);
  return cluster === undefined || endpoint === undefined ? undefined : { endpoint, cluster };
}
