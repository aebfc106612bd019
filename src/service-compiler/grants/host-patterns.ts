/** Host names of routes, and which of them a pattern covers. As in the Gateway API, a wildcard matches one or more labels. */

/** `*.example.com` and `a.b.example.com` for domain `example.com`, and not `example.com` itself. */
function isBelow(host: string, domain: string): boolean {
  return host.endsWith(`.${domain}`) && host.length > domain.length + 1;
}

export function isWildcard(host: string): boolean {
  return host.startsWith("*.");
}

type Hosts = { readonly ingressDomain: string | undefined; readonly hosts: readonly string[] };

/** A wildcard must be listed literally: one below the ingress domain would overlap with the hosts of every other service. */
export function mayClaimHost(host: string, { ingressDomain, hosts }: Hosts): boolean {
  if (hosts.includes(host)) return true;
  if (isWildcard(host)) return false;
  if (ingressDomain !== undefined && isBelow(host, ingressDomain)) return true;
  return hosts.some((pattern) => isWildcard(pattern) && isBelow(host, pattern.slice(2)));
}

/** Whether a request could match both hosts. */
export function hostsOverlap(one: string, other: string): boolean {
  if (one === other) return true;
  return (isWildcard(one) && isBelow(other, one.slice(2))) || (isWildcard(other) && isBelow(one, other.slice(2)));
}

/** A prefix as requests are compared with it: without a slash at the end, and with letters that need no escape unescaped. */
export function comparablePath(path: string): string {
  const decoded = path.replaceAll(/%([0-9A-Fa-f]{2})/g, (escape, hex: string) => {
    const character = String.fromCharCode(Number.parseInt(hex, 16));
    return /[-A-Za-z0-9._~]/.test(character) ? character : escape.toUpperCase();
  });
  return decoded.length > 1 && decoded.endsWith("/") ? decoded.slice(0, -1) : decoded;
}

/** Whether a request could match both prefixes, which match whole segments. Both are comparable paths. */
export function pathsOverlap(one: string, other: string): boolean {
  const [short, long] = one.length <= other.length ? [one, other] : [other, one];
  return short === "/" || long === short || long.startsWith(`${short}/`);
}
