/** String formats: the texts that Go's validators accept and refuse. */
import { describe, expect, test } from "vitest";
import { isKnownFormat, matchesFormat } from "./string-formats.ts";

const ROWS: readonly { readonly format: string; readonly good: readonly string[]; readonly bad: readonly string[] }[] = [
  { format: "bsonobjectid", good: ["507f1f77bcf86cd799439011"], bad: ["507f", "z07f1f77bcf86cd799439011"] },
  {
    format: "uri",
    good: ["http://a/b?c#d", "/a", "mailto:x", "*", "http://[::1]:80/"],
    bad: ["", "a", "http://a b", "http://a:b", "%zz", ":a", "http://[::1", "http://a%zz", "http://<@a", "/\u0001"],
  },
  { format: "email", good: ["a@b.test", "A B <a@b>", '"a b"@c'], bad: ["a", "a@", "<a@b", "@b"] },
  { format: "hostname", good: ["a.test", "a-b"], bad: ["", "-a", `${"a".repeat(64)}.test`, "a_b.test"] },
  { format: "ipv4", good: ["1.2.3.4", "010.0.0.1"], bad: ["1.2.3", "::1", "1.2.3.256"] },
  { format: "ipv6", good: ["::1", "::ffff:1.2.3.4"], bad: ["1.2.3.4", "::g", ":::"] },
  { format: "cidr", good: ["1.2.3.0/24", "::/0"], bad: ["1.2.3.4", "1.2.3.0/33", "::/129", "x/1", "1.2.3.0/+4"] },
  { format: "mac", good: ["01:02:03:04:05:ab", "01-02-03-04-05-ab", "0102.0304.05ab"], bad: ["01:02", "01:02:03:04:05-ab", "0102.0304"] },
  {
    format: "uuid",
    good: ["00000000-0000-0000-0000-000000000000", "00000000000000000000000000000000"],
    bad: ["0", "g0000000-0000-0000-0000-000000000000"],
  },
  { format: "uuid3", good: ["00000000-0000-3000-0000-000000000000"], bad: ["00000000-0000-4000-0000-000000000000"] },
  { format: "uuid4", good: ["00000000-0000-4000-8000-000000000000"], bad: ["00000000-0000-4000-0000-000000000000"] },
  { format: "uuid5", good: ["00000000-0000-5000-a000-000000000000"], bad: ["00000000-0000-4000-8000-000000000000"] },
  { format: "isbn", good: ["0-306-40615-2", "978-0-306-40615-7"], bad: ["0-306-40615-3", "978-0-306-40615-8", "x"] },
  { format: "isbn10", good: ["0306406152", "080442957X"], bad: ["0306406153", "1"] },
  { format: "isbn13", good: ["9780306406157"], bad: ["9780306406158", "0306406152"] },
  { format: "creditcard", good: ["4111 1111 1111 1111", "5555-5555-5555-4444"], bad: ["4111111111111112", "1"] },
  { format: "ssn", good: ["111-22-3333", "111 22 3333"], bad: ["111223333", "111-22-333"] },
  { format: "hexcolor", good: ["#fff", "FFFFFF"], bad: ["#ff", "#ggg"] },
  { format: "rgbcolor", good: ["rgb(1, 2,255)"], bad: ["rgb(1,2)", "rgb(1,2,256)"] },
  { format: "byte", good: ["aGVsbG8="], bad: ["a", "", "****"] },
  { format: "password", good: ["anything"], bad: [] },
  { format: "date", good: ["2020-02-29"], bad: ["2021-02-29", "2020-2-1", "2020-13-01"] },
  {
    format: "duration",
    good: ["1h30m", "-1.5s", "3 days", "2 weeks and 1 hour", "0", "1µs"],
    bad: ["", "1", "x", "1 fortnight", "99999999999999999999 h"],
  },
  {
    format: "date-time",
    good: ["2020-01-01T00:00:00Z", "2020-01-01t00:00:00.5+99:99"],
    bad: ["2020-01-01", "2020-01-01T24:00:00Z", "2020-01-01T00:60:00Z", "2020-02-30T00:00:00Z", "x"],
  },
  { format: "k8s-short-name", good: ["a-b"], bad: ["a.b", "A", "a".repeat(64)] },
  { format: "k8s-long-name", good: ["a.b-c"], bad: ["a..b", "A", "a".repeat(254)] },
];

describe.each(ROWS)("format $format", ({ format, good, bad }) => {
  test("accepts valid texts only", () => {
    expect(good.filter((text) => !matchesFormat(format, text))).toEqual([]);
    expect(bad.filter((text) => matchesFormat(format, text))).toEqual([]);
  });
});

test("dashes in the name of a format are ignored", () => {
  expect([isKnownFormat("date-time"), isKnownFormat("datetime"), isKnownFormat("Date-Time")]).toEqual([true, true, false]);
});

test("an unknown format accepts every text", () => {
  expect(matchesFormat("foo", "anything")).toBe(true);
});
