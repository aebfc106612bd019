/**
 * The string formats that the API server checks. Others are allowed in a schema and have no effect (the response has a warning).
 *
 * Dashes in a name are ignored: "date-time" is "datetime".
 */
import { isEmail, isRequestUri } from "./go-net.ts";
import { parseCidrSloppy, parseIpSloppy } from "./ip-addresses.ts";
import { parseGoDuration } from "./durations.ts";
import { regexMatches } from "./regex.ts";
import { parseDate } from "./timestamps.ts";

const UUID = "[0-9a-f]{8}-?[0-9a-f]{4}-?";
const NAME = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";
const HOSTNAME =
  "^([a-zA-Z0-9\\p{S}\\p{L}]((-?[a-zA-Z0-9\\p{S}\\p{L}]{0,62})?)|([a-zA-Z0-9\\p{S}\\p{L}](([a-zA-Z0-9-\\p{S}\\p{L}]{0,61}[a-zA-Z0-9\\p{S}\\p{L}])?)(\\.)){1,}([a-zA-Z\\p{L}]){2,63})$";
const COLOUR = "\\s*(0|[1-9]\\d?|1\\d\\d?|2[0-4]\\d|25[0-5])\\s*";

type Check = (text: string) => boolean;

function pattern(text: string): Check {
  return (value) => regexMatches(text, value) === true;
}

const CHECKS: ReadonlyMap<string, Check> = new Map<string, Check>([
  ["bsonobjectid", pattern("^[0-9a-fA-F]{24}$")],
  ["uri", isRequestUri],
  ["email", isEmail],
  ["hostname", isHostname],
  ["ipv4", (text) => text.includes(".") && parseIpSloppy(text) !== undefined],
  ["ipv6", (text) => text.includes(":") && parseIpSloppy(text) !== undefined],
  ["cidr", (text) => parseCidrSloppy(text) !== undefined],
  ["mac", isMac],
  ["uuid", pattern(`(?i)^${UUID}[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}$`)],
  ["uuid3", pattern(`(?i)^${UUID}3[0-9a-f]{3}-?[0-9a-f]{4}-?[0-9a-f]{12}$`)],
  ["uuid4", pattern(`(?i)^${UUID}4[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$`)],
  ["uuid5", pattern(`(?i)^${UUID}5[0-9a-f]{3}-?[89ab][0-9a-f]{3}-?[0-9a-f]{12}$`)],
  ["isbn", (text) => isIsbn10(text) || isIsbn13(text)],
  ["isbn10", isIsbn10],
  ["isbn13", isIsbn13],
  ["creditcard", isCreditCard],
  ["ssn", (text) => text.length === 11 && regexMatches("^\\d{3}[- ]?\\d{2}[- ]?\\d{4}$", text) === true],
  ["hexcolor", pattern("^#?([0-9a-fA-F]{3}|[0-9a-fA-F]{6})$")],
  ["rgbcolor", pattern(`^rgb\\(${COLOUR},${COLOUR},${COLOUR}\\)$`)],
  ["byte", pattern("^(?:[A-Za-z0-9+\\/]{4})*(?:[A-Za-z0-9+\\/]{2}==|[A-Za-z0-9+\\/]{3}=|[A-Za-z0-9+\\/]{4})$")],
  ["password", () => true],
  ["date", (text) => parseDate(text).error === undefined],
  ["duration", (text) => parseGoDuration(text) !== undefined],
  ["datetime", isDateTime],
  ["k8sshortname", (text) => text.length <= 63 && regexMatches(`^${NAME}$`, text) === true],
  ["k8slongname", (text) => text.length <= 253 && regexMatches(`^${NAME}(\\.${NAME})*$`, text) === true],
]);

export function isKnownFormat(format: string): boolean {
  return CHECKS.has(normalised(format));
}

export function matchesFormat(format: string, text: string): boolean {
  return CHECKS.get(normalised(format))?.(text) ?? true;
}

function normalised(format: string): string {
  return format.replaceAll("-", "");
}

function isHostname(text: string): boolean {
  return text.length <= 255 && regexMatches(HOSTNAME, text) === true && text.split(".").every((part) => part.length <= 63);
}

function isMac(text: string): boolean {
  if (/^[0-9a-fA-F]{4}(\.[0-9a-fA-F]{4})+$/.test(text)) return [14, 19, 49].includes(text.length);
  return /^[0-9a-fA-F]{2}([:-])[0-9a-fA-F]{2}(\1[0-9a-fA-F]{2})*$/.test(text) && [17, 23, 59].includes(text.length);
}

/** Go's date and a time whose parts are compared as text: "24:00:00" is too late, but a zone of "+99:99" is not checked. */
function isDateTime(text: string): boolean {
  const [date = "", time] = text.toLowerCase().split("t");
  if (text.length < 4 || time === undefined || parseDate(date).error !== undefined) return false;
  const match = /^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$/s.exec(time);
  return match !== null && (match[1] ?? "") <= "23" && (match[2] ?? "") <= "59" && (match[3] ?? "") <= "59";
}

function isIsbn10(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, "");
  if (!/^(?:\d{9}X|\d{10})$/.test(digits)) return false;
  const sum = Array.from(digits).reduce((total, digit, at) => total + (at + 1) * (digit === "X" ? 10 : Number(digit)), 0);
  return sum % 11 === 0;
}

function isIsbn13(text: string): boolean {
  const digits = text.replace(/[\s-]+/g, "");
  if (!/^\d{13}$/.test(digits)) return false;
  const sum = Array.from(digits.slice(0, 12)).reduce((total, digit, at) => total + (at % 2 === 0 ? 1 : 3) * Number(digit), 0);
  return Number(digits[12]) === (10 - (sum % 10)) % 10;
}

const CARD =
  "^(?:4[0-9]{12}(?:[0-9]{3})?|5[1-5][0-9]{14}|6(?:011|5[0-9][0-9])[0-9]{12}|3[47][0-9]{13}|3(?:0[0-5]|[68][0-9])[0-9]{11}|(?:2131|1800|35\\d{3})\\d{11})$";

function isCreditCard(text: string): boolean {
  const digits = text.replace(/\D+/g, "");
  if (regexMatches(CARD, digits) !== true) return false;
  const sum = Array.from(digits)
    .toReversed()
    .reduce((total, digit, at) => {
      const value = Number(digit) * (at % 2 === 0 ? 1 : 2);
      return total + (value >= 10 ? (value % 10) + 1 : value);
    }, 0);
  return sum % 10 === 0;
}
