/** URLs, IP addresses and CIDRs. */
import { goQuote } from "#kube";
import { parseUrl, unescape, type GoUrl } from "../formats/go-net.ts";
import { describeBadIp } from "../formats/ip-errors.ts";
import { contains, formatIp, isIpv4Mapped, masked, parseCidr, parseIp, type Cidr, type IpAddress } from "../formats/ip-addresses.ts";
import { declare, metered, type Declarations, type Evaluate, type Metered } from "../declarations.ts";
import { mapOf } from "../maps.ts";
import type { Meter } from "../meter.ts";
import { tooLongText } from "../size-limits.ts";
import { CelFailure, CelOpaque, failure, listOf, NO_SUCH_OVERLOAD, type CelValue } from "../values.ts";

function onUrl(run: (url: GoUrl, meter: Meter) => CelValue): Metered {
  return metered((meter, value = null) =>
    value instanceof CelOpaque && value.content.of === "url" ? run(value.content.url, meter) : NO_SUCH_OVERLOAD,
  );
}

function url(text: CelValue, meter: Meter): CelValue {
  if (typeof text !== "string") return NO_SUCH_OVERLOAD;
  const spent = meter.work(text.length * 4);
  if (spent !== undefined) return spent;
  const strict = parseUrl(text, "request");
  const parsed = strict.ok ? parseUrl(text, "any") : strict;
  return parsed.ok
    ? new CelOpaque({ of: "url", text, url: parsed.value })
    : failure(`URL parse error during conversion from string: ${parsed.error}`);
}

/** The cost in Kubernetes is one for a text of any length. */
function isUrl(text: CelValue, meter: Meter): CelValue {
  if (typeof text !== "string") return false;
  return meter.work(text.length * 4) ?? parseUrl(text, "request").ok;
}

function hostname(host: string): string {
  if (host.startsWith("[")) return host.slice(1, host.indexOf("]"));
  return host.includes(":") ? host.slice(0, host.lastIndexOf(":")) : host;
}

function port(host: string): string {
  const behind = host.startsWith("[") ? host.slice(host.indexOf("]") + 1) : host;
  return behind.includes(":") ? behind.slice(behind.lastIndexOf(":") + 1) : "";
}

/** Existing escapes are kept; other characters that need an escape get one. */
function escapedPath(path: string, meter: Meter): CelValue {
  const spent = meter.work(path.length * 10);
  if (spent !== undefined) return spent;
  const escaped = path.replace(/[^A-Za-z0-9\-._~!$&'()*+,;=:@/%]+/gu, (characters) =>
    Buffer.from(characters).toString("hex").toUpperCase().replace(/../g, "%$&"),
  );
  return tooLongText(escaped.length) ?? escaped;
}

function query(text: string, meter: Meter): CelValue {
  const spent = meter.work(text.length * 12);
  if (spent !== undefined) return spent;
  const values = new Map<string, string[]>();
  for (const pair of text.split("&")) {
    if (pair === "" || pair.includes(";")) continue;
    const at = pair.indexOf("=");
    const [name, value] = (at < 0 ? [pair, ""] : [pair.slice(0, at), pair.slice(at + 1)]).map((part) =>
      unescape(part.replaceAll("+", " ")),
    );
    const known = values.get(name ?? "");
    if (known === undefined) values.set(name ?? "", [value ?? ""]);
    else known.push(value ?? "");
  }
  return mapOf([...values].map(([name, texts]) => [name, listOf(texts)]));
}

function readIp(text: CelValue): IpAddress | CelFailure {
  if (typeof text !== "string") return NO_SUCH_OVERLOAD;
  const address = parseIp(text);
  if (address === undefined)
    return failure(`IP Address ${goQuote(text)} parse error during conversion from string: ${describeBadIp(text)}`);
  if (address.zone !== "") return failure(`IP address ${goQuote(text)} with zone value is not allowed`);
  return isIpv4Mapped(address) ? failure(`IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`) : address;
}

function ip(text: CelValue): CelValue {
  const address = readIp(text);
  return address instanceof CelFailure ? address : new CelOpaque({ of: "ip", address });
}

function readCidr(text: CelValue): Cidr | CelFailure {
  if (typeof text !== "string") return NO_SUCH_OVERLOAD;
  const cidr = parseCidr(text);
  const prefix = "network address parse error during conversion from string: ";
  if (cidr === undefined) return failure(`${prefix}${prefix}${describeBadCidr(text)}`);
  return isIpv4Mapped(cidr.address) ? failure(`${prefix}IPv4-mapped IPv6 address ${goQuote(text)} is not allowed`) : cidr;
}

/** The error message of Go's netip. */
function describeBadCidr(text: string): string {
  const slash = text.lastIndexOf("/");
  const says = (problem: string): string => `netip.ParsePrefix(${goQuote(text)}): ${problem}`;
  if (slash < 0) return says("no '/'");
  const address = parseIp(text.slice(0, slash));
  if (address === undefined) return says(describeBadIp(text.slice(0, slash)));
  if (address.zone !== "") return says("IPv6 zones cannot be present in a prefix");
  const bits = text.slice(slash + 1);
  return says(/^(?:0|[1-9]\d*)$/.test(bits) ? "prefix length out of range" : `bad bits after slash: ${goQuote(bits)}`);
}

function cidr(text: CelValue): CelValue {
  const parsed = readCidr(text);
  return parsed instanceof CelFailure ? parsed : new CelOpaque({ of: "cidr", cidr: parsed });
}

function onIp(run: (address: IpAddress) => CelValue): Evaluate {
  return (value = null) => (value instanceof CelOpaque && value.content.of === "ip" ? run(value.content.address) : NO_SUCH_OVERLOAD);
}

function onCidr(run: (value: Cidr, other: CelValue) => CelValue): Evaluate {
  return (value = null, other = null) =>
    value instanceof CelOpaque && value.content.of === "cidr" ? run(value.content.cidr, other) : NO_SUCH_OVERLOAD;
}

function containsIp(outer: Cidr, other: CelValue): CelValue {
  const address = other instanceof CelOpaque && other.content.of === "ip" ? other.content.address : readIp(other);
  return address instanceof CelFailure ? address : contains(outer, address);
}

function containsCidr(outer: Cidr, other: CelValue): CelValue {
  const inner = other instanceof CelOpaque && other.content.of === "cidr" ? other.content.cidr : readCidr(other);
  if (inner instanceof CelFailure) return inner;
  return outer.prefix <= inner.prefix && contains(outer, inner.address);
}

/** The first bits of an address. */
function leading(address: IpAddress, count: number): bigint {
  return address.bits >> BigInt((address.family === 4 ? 32 : 128) - count);
}

function isLoopback(address: IpAddress): boolean {
  return address.family === 4 ? leading(address, 8) === 127n : address.bits === 1n;
}

function isLinkLocalMulticast(address: IpAddress): boolean {
  return address.family === 4 ? leading(address, 24) === 0xe00000n : (leading(address, 16) & 0xff0fn) === 0xff02n;
}

function isLinkLocalUnicast(address: IpAddress): boolean {
  return address.family === 4 ? leading(address, 16) === 0xa9fen : leading(address, 10) === 0x3fan;
}

function isMulticast(address: IpAddress): boolean {
  return address.family === 4 ? leading(address, 4) === 0xen : leading(address, 8) === 0xffn;
}

function isGlobalUnicast(address: IpAddress): boolean {
  const isBroadcast = address.family === 4 && address.bits === 0xffffffffn;
  return address.bits !== 0n && !isBroadcast && !isLoopback(address) && !isMulticast(address) && !isLinkLocalUnicast(address);
}

export function network(): Declarations {
  return declare([
    ["string_to_url", "url(string) -> URL", metered((meter, text = null) => url(text, meter))],
    ["is_url_string", "isURL(string) -> bool", metered((meter, text = null) => isUrl(text, meter))],
    ["url_get_scheme", "<URL> getScheme() -> string", onUrl((parsed) => parsed.scheme)],
    ["url_get_host", "<URL> getHost() -> string", onUrl((parsed) => parsed.host)],
    ["url_get_hostname", "<URL> getHostname() -> string", onUrl((parsed) => hostname(parsed.host))],
    ["url_get_port", "<URL> getPort() -> string", onUrl((parsed) => port(parsed.host))],
    ["url_get_escaped_path", "<URL> getEscapedPath() -> string", onUrl((parsed, meter) => escapedPath(parsed.path, meter))],
    ["url_get_query", "<URL> getQuery() -> map(string, list(string))", onUrl((parsed, meter) => query(parsed.query, meter))],
    ["string_to_ip", "ip(string) -> IP", (text = null) => ip(text)],
    ["is_ip", "isIP(string) -> bool", (text = null) => !(readIp(text) instanceof CelFailure)],
    [
      "ip_is_canonical",
      "ip.isCanonical(string) -> bool",
      (text = null) => {
        const address = readIp(text);
        return address instanceof CelFailure ? address : formatIp(address) === text;
      },
    ],
    ["ip_family", "<IP> family() -> int", onIp((address) => BigInt(address.family))],
    ["ip_is_unspecified", "<IP> isUnspecified() -> bool", onIp((address) => address.bits === 0n)],
    ["ip_is_loopback", "<IP> isLoopback() -> bool", onIp(isLoopback)],
    ["ip_is_link_local_multicast", "<IP> isLinkLocalMulticast() -> bool", onIp(isLinkLocalMulticast)],
    ["ip_is_link_local_unicast", "<IP> isLinkLocalUnicast() -> bool", onIp(isLinkLocalUnicast)],
    ["ip_is_global_unicast", "<IP> isGlobalUnicast() -> bool", onIp(isGlobalUnicast)],
    ["string_to_cidr", "cidr(string) -> CIDR", (text = null) => cidr(text)],
    ["is_cidr", "isCIDR(string) -> bool", (text = null) => !(readCidr(text) instanceof CelFailure)],
    ["cidr_contains_ip_string", "<CIDR> containsIP(string) -> bool", onCidr(containsIp)],
    ["cidr_contains_ip_ip", "<CIDR> containsIP(IP) -> bool", onCidr(containsIp)],
    ["cidr_contains_cidr_string", "<CIDR> containsCIDR(string) -> bool", onCidr(containsCidr)],
    ["cidr_contains_cidr", "<CIDR> containsCIDR(CIDR) -> bool", onCidr(containsCidr)],
    ["cidr_ip", "<CIDR> ip() -> IP", onCidr((value) => new CelOpaque({ of: "ip", address: value.address }))],
    ["cidr_prefix_length", "<CIDR> prefixLength() -> int", onCidr((value) => BigInt(value.prefix))],
    ["cidr_masked", "<CIDR> masked() -> CIDR", onCidr((value) => new CelOpaque({ of: "cidr", cidr: masked(value) }))],
  ]);
}
