/** The reason why a text is no IP address, with the messages of Go's net/netip, which the error of `ip(x)` contains. */
import { goQuote } from "#kube";

/** For texts that `parseIp` refused. */
export function describeBadIp(text: string): string {
  const [message, at] = problemOf(text);
  return `ParseAddr(${goQuote(text)}): ${message}${at === "" ? "" : ` (at ${goQuote(at)})`}`;
}

type Problem = readonly [message: string, at: string];

function problemOf(text: string): Problem {
  const first = /[.:%]/.exec(text)?.[0];
  if (first === ".") return ipv4Problem(text);
  if (first === ":") return ipv6Problem(text);
  return [first === "%" ? "missing IPv6 address" : "unable to parse IP", ""];
}

function ipv4Problem(text: string): Problem {
  let value = 0;
  let digits = 0;
  let fields = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (/\d/.test(character)) {
      if (digits === 1 && value === 0) return ["IPv4 field has octet with leading zero", ""];
      value = value * 10 + Number(character);
      digits += 1;
      if (value > 255) return ["IPv4 field has value >255", ""];
    } else if (character === ".") {
      if (at === 0 || at === text.length - 1 || text.charAt(at - 1) === ".")
        return ["IPv4 field must have at least one digit", text.slice(at)];
      if (fields === 3) return ["IPv4 address too long", ""];
      fields += 1;
      value = 0;
      digits = 0;
    } else return ["unexpected character", text.slice(at)];
  }
  return ["IPv4 address too short", ""];
}

function ipv6Problem(full: string): Problem {
  const percent = full.indexOf("%");
  if (percent >= 0 && percent === full.length - 1) return ["zone must be a non-empty string", ""];
  let rest = percent < 0 ? full : full.slice(0, percent);
  let ellipsis = -1;
  let filled = 0;
  if (rest.startsWith("::")) {
    ellipsis = 0;
    rest = rest.slice(2);
  }
  while (filled < 16) {
    const digits = /^[0-9a-fA-F]*/.exec(rest)?.[0] ?? "";
    if (digits.length > 4) return ["each group must have 4 or less digits", rest];
    if (digits === "") return ["each colon-separated field must have at least one digit", rest];
    if (rest.charAt(digits.length) === ".") return embeddedProblem(rest, filled, ellipsis);
    filled += 2;
    rest = rest.slice(digits.length);
    if (rest === "") break;
    if (!rest.startsWith(":")) return ["unexpected character, want colon", rest];
    if (rest.length === 1) return ["colon must be followed by more characters", rest];
    rest = rest.slice(1);
    if (!rest.startsWith(":")) continue;
    if (ellipsis >= 0) return ["multiple :: in address", rest];
    ellipsis = filled;
    rest = rest.slice(1);
    if (rest === "") break;
  }
  if (rest !== "") return ["trailing garbage after address", rest];
  return [filled < 16 ? "address string too short" : "the :: must expand to at least one field of zeros", ""];
}

function embeddedProblem(rest: string, filled: number, ellipsis: number): Problem {
  if (ellipsis < 0 && filled !== 12) return ["embedded IPv4 address must replace the final 2 fields of the address", rest];
  if (filled + 4 > 16) return ["too many hex fields to fit an embedded IPv4 at the end of the address", rest];
  return ipv4Problem(rest);
}
