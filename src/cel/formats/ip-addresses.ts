/**
 * IP addresses and CIDRs as numbers. `parseIp` is strict, as Go's netip; the sloppy variants are for the formats of schemas,
 * which still allow the leading zeros that Go once did.
 */
export type IpAddress = { readonly family: 4 | 6; readonly bits: bigint; readonly zone: string };
export type Cidr = { readonly address: IpAddress; readonly prefix: number };

const IPV4_MAPPED = 0xffffn;

export function parseIp(text: string): IpAddress | undefined {
  return parseAddress(text, /^(?:0|[1-9]\d{0,2})$/);
}

export function parseIpSloppy(text: string): IpAddress | undefined {
  const address = parseAddress(text, /^\d+$/);
  return address === undefined || address.zone !== "" ? undefined : address;
}

function parseAddress(text: string, octet: RegExp): IpAddress | undefined {
  if (!text.includes(":")) {
    const bits = parseOctets(text, octet);
    return bits === undefined ? undefined : { family: 4, bits, zone: "" };
  }
  const percent = text.indexOf("%");
  const zone = percent < 0 ? "" : text.slice(percent + 1);
  if (percent >= 0 && zone === "") return undefined;
  const bits = parseGroups(percent < 0 ? text : text.slice(0, percent), octet);
  return bits === undefined ? undefined : { family: 6, bits, zone };
}

function parseOctets(text: string, octet: RegExp): bigint | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => octet.test(part) && Number(part) <= 255)) return undefined;
  return parts.reduce((bits, part) => (bits << 8n) | BigInt(part), 0n);
}

function parseGroups(text: string, octet: RegExp): bigint | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head, tail] = [groupsOf(halves[0] ?? "", halves.length === 1, octet), groupsOf(halves[1] ?? "", true, octet)];
  if (head === undefined || tail === undefined) return undefined;
  const zeros = 8 - head.length - tail.length;
  if (halves.length === 2 ? zeros < 1 : zeros !== 0) return undefined;
  return [...head, ...Array.from({ length: zeros }, () => 0n), ...tail].reduce((bits, group) => (bits << 16n) | group, 0n);
}

/** Sixteen bits each; the last part may be an IPv4 address, which counts as two. */
function groupsOf(text: string, isLast: boolean, octet: RegExp): readonly bigint[] | undefined {
  if (text === "") return [];
  const groups: bigint[] = [];
  const parts = text.split(":");
  for (const [position, part] of parts.entries()) {
    if (/^[0-9a-fA-F]{1,4}$/.test(part)) {
      groups.push(BigInt(`0x${part}`));
      continue;
    }
    const ipv4 = isLast && position === parts.length - 1 ? parseOctets(part, octet) : undefined;
    if (ipv4 === undefined) return undefined;
    groups.push(ipv4 >> 16n, ipv4 & 0xffffn);
  }
  return groups;
}

export function parseCidr(text: string): Cidr | undefined {
  return parsePrefixed(text, parseIp, /^(?:0|[1-9]\d{0,2})$/);
}

export function parseCidrSloppy(text: string): Cidr | undefined {
  return parsePrefixed(text, parseIpSloppy, /^\d+$/);
}

function parsePrefixed(text: string, parse: (text: string) => IpAddress | undefined, digits: RegExp): Cidr | undefined {
  const slash = text.lastIndexOf("/");
  if (slash < 0) return undefined;
  const address = parse(text.slice(0, slash));
  const prefix = text.slice(slash + 1);
  if (address === undefined || address.zone !== "" || !digits.test(prefix)) return undefined;
  return Number(prefix) <= widthOf(address) ? { address, prefix: Number(prefix) } : undefined;
}

function widthOf(address: IpAddress): number {
  return address.family === 4 ? 32 : 128;
}

export function isIpv4Mapped(address: IpAddress): boolean {
  return address.family === 6 && address.bits >> 32n === IPV4_MAPPED;
}

/** The address with all bits after the prefix set to zero. */
export function masked(cidr: Cidr): Cidr {
  const shift = BigInt(widthOf(cidr.address) - cidr.prefix);
  return { ...cidr, address: { ...cidr.address, bits: (cidr.address.bits >> shift) << shift } };
}

export function contains(cidr: Cidr, address: IpAddress): boolean {
  const shift = BigInt(widthOf(cidr.address) - cidr.prefix);
  return cidr.address.family === address.family && cidr.address.bits >> shift === address.bits >> shift;
}

export function formatIp(address: IpAddress): string {
  if (address.family === 4) return [24n, 16n, 8n, 0n].map((shift) => (address.bits >> shift) & 0xffn).join(".");
  const zone = address.zone === "" ? "" : `%${address.zone}`;
  if (isIpv4Mapped(address)) return `::ffff:${formatIp({ family: 4, bits: address.bits & 0xffffffffn, zone: "" })}${zone}`;
  const groups = Array.from({ length: 8 }, (_, at) => ((address.bits >> BigInt((7 - at) * 16)) & 0xffffn).toString(16));
  return `${compressed(groups)}${zone}`;
}

/** The longest run of two or more zeros becomes "::"; of equal runs the first. */
function compressed(groups: readonly string[]): string {
  let best = { start: -1, length: 1 };
  for (let start = 0; start < groups.length; start++) {
    let length = 0;
    while (groups[start + length] === "0") length += 1;
    if (length > best.length) best = { start, length };
  }
  if (best.start < 0) return groups.join(":");
  return `${groups.slice(0, best.start).join(":")}::${groups.slice(best.start + best.length).join(":")}`;
}
