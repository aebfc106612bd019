/** Names of Compose as names of Kubernetes: lower case letters, digits and '-', at most 50 characters so that objects of the service fit. */
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
