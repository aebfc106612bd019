/** Times, durations and addresses: parsed exactly, and refused with Go's messages. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { formatSeconds, parseGoDuration, parseStrictDuration } from "./durations.ts";
import { parseUrl } from "./go-net.ts";
import { contains, formatIp, masked, parseCidr, parseIp } from "./ip-addresses.ts";
import { describeBadIp } from "./ip-errors.ts";
import { civilOf, formatInstant, parseDate, parseLocalTime, parseTimestamp } from "./timestamps.ts";

describe("a time", () => {
  test("is unchanged after parsing and formatting, and equal to Date", () => {
    fc.assert(
      fc.property(fc.date({ min: new Date(0, 0, 1), max: new Date(9999, 0, 1), noInvalidDate: true }), (date) => {
        const { value } = parseTimestamp(date.toISOString());
        expect(value?.seconds).toBe(BigInt(Math.floor(date.getTime() / 1000)));
        expect(value === undefined ? "" : formatInstant(value)).toBe(date.toISOString().replace(/\.?0*Z$/, "Z"));
        expect(value === undefined ? 0 : civilOf(value).day).toBe(date.getUTCDate());
      }),
    );
  });
  test("keeps its zone", () => {
    const { value } = parseTimestamp("2020-01-01T00:30:00.123456789-01:30");
    expect(value).toEqual({ seconds: 1_577_844_000n, nanos: 123_456_789, offset: -5400 });
    expect(value === undefined ? "" : formatInstant(value)).toBe("2020-01-01T00:30:00.123456789-01:30");
  });
  test.each([
    { given: "x", want: 'parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"' },
    { given: "2020-01-01 00", want: 'parsing time "2020-01-01 00" as "2006-01-02T15:04:05Z07:00": cannot parse " 00" as "T"' },
    { given: "2020-13-01T00:00:00Zx", want: 'parsing time "2020-13-01T00:00:00Zx": month out of range' },
    { given: "2020-02-30T00:00:00Zx", want: 'parsing time "2020-02-30T00:00:00Zx": extra text: "x"' },
    { given: "2021-02-29T00:00:00Z", want: 'parsing time "2021-02-29T00:00:00Z": day out of range' },
    { given: "2020-04-31T00:00:00Z", want: 'parsing time "2020-04-31T00:00:00Z": day out of range' },
    { given: "2020-01-01T24:00:00Z", want: 'parsing time "2020-01-01T24:00:00Z": hour out of range' },
    { given: "2020-01-01T00:60:00Z", want: 'parsing time "2020-01-01T00:60:00Z": minute out of range' },
    { given: "2020-01-01T00:00:60Z", want: 'parsing time "2020-01-01T00:00:60Z": second out of range' },
    { given: '"\\é', want: 'parsing time "\\"\\\\\\xc3\\xa9" as "2006-01-02T15:04:05Z07:00": cannot parse "\\"\\\\\\xc3\\xa9" as "2006"' },
  ])("is refused: $given", ({ given, want }) => {
    expect(parseTimestamp(given).error).toBe(want);
  });
  test("may have no zone, or be a date only", () => {
    expect(parseLocalTime("1970-01-01T00:00:01").value?.seconds).toBe(1n);
    expect(parseLocalTime("1970-01-01T00:00:01Z").error).toBe('parsing time "1970-01-01T00:00:01Z": extra text: "Z"');
    expect(parseDate("1969-12-31").value?.seconds).toBe(-86_400n);
  });
});

describe("a duration", () => {
  test.each([
    { given: "1h30m", want: 5_400_000_000_000n },
    { given: "-1.5s", want: -1_500_000_000n },
    { given: "+.5ms", want: 500_000n },
    { given: "0", want: 0n },
    { given: "9223372036854775807ns", want: 9_223_372_036_854_775_807n },
    { given: "-9223372036854775808ns", want: -9_223_372_036_854_775_808n },
    { given: "9223372036854775808ns", want: undefined },
    { given: "", want: undefined },
    { given: ".s", want: undefined },
    { given: "1", want: undefined },
  ])("$given is $want ns", ({ given, want }) => {
    expect(parseStrictDuration(given)).toBe(want);
  });
  test("may be written with names of units in a schema", () => {
    expect(parseGoDuration("1 day 2 hours")).toBe(93_600_000_000_000n);
    expect(parseGoDuration("soon")).toBeUndefined();
    expect(parseGoDuration("9223372036854775808 ns")).toBeUndefined();
  });
  test("is written in seconds", () => {
    expect([formatSeconds(1_500_000_000n), formatSeconds(-1n), formatSeconds(0n)]).toEqual(["1.5s", "-0.000000001s", "0s"]);
  });
});

describe("an address", () => {
  test.each(["1.2.3.4", "::", "::1", "1::", "1:2:3:4:5:6:7:8", "1:0:0:2::", "fe80::1", "1:2:3:4:5:6:7:0"])(
    "%s is read and written",
    (given) => {
      const address = parseIp(given);
      expect(address === undefined ? "" : formatIp(address)).toBe(given);
    },
  );
  test("is in the networks that contain it", () => {
    const [network, inside, other] = [parseCidr("10.1.2.3/8"), parseIp("10.9.9.9"), parseIp("::1")];
    if (network === undefined || inside === undefined || other === undefined) throw new Error("cannot be read");
    expect([contains(network, inside), contains(network, other), formatIp(masked(network).address)]).toEqual([true, false, "10.0.0.0"]);
  });
  test.each([
    { given: "x", want: 'ParseAddr("x"): unable to parse IP' },
    { given: "%a", want: 'ParseAddr("%a"): missing IPv6 address' },
    { given: "1.2.3", want: 'ParseAddr("1.2.3"): IPv4 address too short' },
    { given: "1.2.3.4.5", want: 'ParseAddr("1.2.3.4.5"): IPv4 address too long' },
    { given: "1.2.3.256", want: 'ParseAddr("1.2.3.256"): IPv4 field has value >255' },
    { given: "1.2.3.04", want: 'ParseAddr("1.2.3.04"): IPv4 field has octet with leading zero' },
    { given: "1..3.4", want: 'ParseAddr("1..3.4"): IPv4 field must have at least one digit (at ".3.4")' },
    { given: "1.2.3.x", want: 'ParseAddr("1.2.3.x"): unexpected character (at "x")' },
    { given: "::g", want: 'ParseAddr("::g"): each colon-separated field must have at least one digit (at "g")' },
    { given: "::12345", want: 'ParseAddr("::12345"): each group must have 4 or less digits (at "12345")' },
    { given: "1:2", want: 'ParseAddr("1:2"): address string too short' },
    { given: "1:", want: 'ParseAddr("1:"): colon must be followed by more characters (at ":")' },
    { given: "1::2::3", want: 'ParseAddr("1::2::3"): multiple :: in address (at ":3")' },
    { given: "1:2z", want: 'ParseAddr("1:2z"): unexpected character, want colon (at "z")' },
    { given: "::1%", want: 'ParseAddr("::1%"): zone must be a non-empty string' },
    { given: "1:2:3:4:5:6:7:8:9", want: 'ParseAddr("1:2:3:4:5:6:7:8:9"): trailing garbage after address (at "9")' },
    { given: "1::2:3:4:5:6:7:8", want: 'ParseAddr("1::2:3:4:5:6:7:8"): the :: must expand to at least one field of zeros' },
    {
      given: "1:1.2.3.4",
      want: 'ParseAddr("1:1.2.3.4"): embedded IPv4 address must replace the final 2 fields of the address (at "1.2.3.4")',
    },
    {
      given: "::1:2:3:4:5:6:7:1.2.3.4",
      want: 'ParseAddr("::1:2:3:4:5:6:7:1.2.3.4"): too many hex fields to fit an embedded IPv4 at the end of the address (at "1.2.3.4")',
    },
    { given: "::1.2.3", want: 'ParseAddr("::1.2.3"): IPv4 address too short' },
  ])("is refused: $given", ({ given, want }) => {
    expect(parseIp(given)).toBeUndefined();
    expect(describeBadIp(given)).toBe(want);
  });
});

describe("a URL", () => {
  test("is parsed as in Go", () => {
    expect(parseUrl("HTTPS://u:p@h%41:1/p%20q?a=b#f", "any")).toEqual({
      ok: true,
      value: { scheme: "https", opaque: "", user: "u:p", host: "hA:1", path: "/p%20q", query: "a=b", fragment: "f" },
    });
  });
  test.each([
    { given: "http://a#%z", want: 'parse "http://a#%z": invalid URL escape "%z"' },
    { given: "a:b/c d", want: undefined },
    { given: "1:b", want: 'parse "1:b": first path segment in URL cannot contain colon' },
    { given: "http://a b", want: 'parse "http://a b": invalid character " " in host name' },
  ])("$given gives $want", ({ given, want }) => {
    const parsed = parseUrl(given, "any");
    expect(parsed.ok ? undefined : parsed.error).toBe(want);
  });
});
