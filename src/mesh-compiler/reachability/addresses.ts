/** Whether an IPv4 or IPv6 address is in a CIDR. A text that is not an address is in none. */
export function addressIn(address: string, cidr: string): boolean {
  const slash = cidr.indexOf("/");
  const [base, bits] = slash < 0 ? [cidr, undefined] : [cidr.slice(0, slash), Number(cidr.slice(slash + 1))];
  const [given, range] = [parse(address), parse(base)];
  if (given === undefined || range === undefined || given.size !== range.size) return false;
  const shift = BigInt(given.size - (bits ?? given.size));
  return shift >= 0n && given.value >> shift === range.value >> shift;
}

type Parsed = { readonly value: bigint; readonly size: 32 | 128 };

function parse(text: string): Parsed | undefined {
  return text.includes(":") ? parseSix(text.replace(/^\[|\]$/g, "")) : parseFour(text);
}

function parseFour(text: string): Parsed | undefined {
  const parts = text.split(".");
  if (parts.length !== 4 || !parts.every((part) => /^[0-9]{1,3}$/.test(part) && Number(part) <= 255)) return undefined;
  return { value: parts.reduce((value, part) => value * 256n + BigInt(part), 0n), size: 32 };
}

function parseSix(text: string): Parsed | undefined {
  const halves = text.split("::");
  if (halves.length > 2) return undefined;
  const [head = [], tail = []] = halves.map((half) => (half === "" ? [] : half.split(":")));
  const missing = 8 - head.length - tail.length;
  if (halves.length === 1 ? missing !== 0 : missing < 1) return undefined;
  const groups = [...head, ...Array.from({ length: halves.length === 1 ? 0 : missing }, () => "0"), ...tail];
  if (!groups.every((group) => /^[0-9A-Fa-f]{1,4}$/.test(group))) return undefined;
  return { value: groups.reduce((value, group) => value * 65_536n + BigInt(`0x${group}`), 0n), size: 128 };
}
