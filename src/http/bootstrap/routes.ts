/**
 * The paths of the bootstrap server, matched on the text of the request line: nothing is decoded or normalised, so that `%2f` and `..` are part of a
 * name that no cluster has.
 */
export type BootstrapRoute =
  | { readonly endpoint: "register" }
  | { readonly endpoint: "csr" | "renew" | "report"; readonly cluster: string };

export function routeOf(url: string | undefined): BootstrapRoute | undefined {
  if (url === "/api/clusters/register") return { endpoint: "register" };
  const [, cluster, endpoint] = /^\/api\/clusters\/([^/?#]{1,253})\/(csr|renew|report)$/.exec(url ?? "") ?? [];
  if (cluster === undefined) return undefined;
  switch (endpoint) {
    case "csr":
    case "renew":
    case "report":
      return { endpoint, cluster };
    default:
      return undefined;
  }
}
