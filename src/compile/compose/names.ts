/** Converts names of Compose to Kubernetes names: lower case letters, digits and '-', at most 50 characters to leave room for suffixes. */
const LONGEST = 50;

export function dnsLabel(name: string): string {
  const label = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, LONGEST)
    .replace(/^-/, "")
    .replace(/-$/, "");
  return label === "" ? "service" : label;
}
