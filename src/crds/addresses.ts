/**
 * IP addresses and networks, parsed as strictly as by Go's net/netip, which CEL's `isCIDR` uses on the API server: no leading zeros,
 * no zones, no IPv4 addresses in IPv6.
 */
const OCTET = /^(?:0|[1-9][0-9]{0,2})$/;
const GROUP = /^[0-9a-fA-F]{1,4}$/;

export function isIpv4(text: string): boolean {
  const octets = text.split(".");
  return octets.length === 4 && octets.every((octet) => OCTET.test(octet) && Number(octet) <= 255);
}

export function isIpv6(text: string): boolean {
  const halves = text.split("::");
  if (halves.length > 2 || !text.includes(":")) return false;
  const groups = halves.flatMap((half) => (half === "" ? [] : half.split(":")));
  if (!groups.every((group) => GROUP.test(group))) return false;
  // "::" replaces at least one group of zeros
  return halves.length === 2 ? groups.length <= 7 : groups.length === 8;
}

export function isCidr(text: string): boolean {
  const slash = text.lastIndexOf("/");
  const [address, bits] = [text.slice(0, Math.max(slash, 0)), text.slice(slash + 1)];
  if (!OCTET.test(bits)) return false;
  return (isIpv4(address) && Number(bits) <= 32) || (isIpv6(address) && Number(bits) <= 128);
}
