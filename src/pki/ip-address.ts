/** IP addresses as bytes, as certificates contain them: 4 for IPv4, 16 for IPv6. */
import { isIPv4, isIPv6 } from "node:net";

export function ipAddressBytes(address: string): Uint8Array | undefined {
  if (isIPv4(address)) return Uint8Array.from(address.split("."), Number);
  // a zone ("%eth0") is valid on one machine only
  if (!isIPv6(address) || address.includes("%")) return undefined;
  const [head = "", tail] = address.split("::");
  const left = groupsOf(head);
  const right = tail === undefined ? [] : groupsOf(tail);
  const gap = Array.from({ length: 8 - left.length - right.length }, () => 0);
  return Uint8Array.from([...left, ...gap, ...right].flatMap((group) => [group >> 8, group & 0xff]));
}

function groupsOf(text: string): number[] {
  if (text === "") return [];
  return text.split(":").flatMap((group) => {
    if (!group.includes(".")) return [Number.parseInt(group, 16)];
    const [a = 0, b = 0, c = 0, d = 0] = group.split(".").map(Number);
    return [(a << 8) | b, (c << 8) | d];
  });
}
