import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { combineBundles } from "./certificate-bundle.ts";
import { createCertificateAuthority } from "./certificate.ts";

const NOW = Date.UTC(2030, 0, 1);
const YEAR = 365 * 86_400_000;
const root = (commonName: string, years = 1) =>
  expectOk(createCertificateAuthority({ commonName, notBefore: new Date(NOW - 5 * YEAR), notAfter: new Date(NOW + years * YEAR) }))
    .certificate;
const [one, two, expired] = [root("one"), root("two"), root("expired", -1)];

describe("combined bundles have", () => {
  const rows: { name: string; first: string; second: string; want: string }[] = [
    { name: "the certificates of both, in their order", first: two, second: one, want: two + one },
    { name: "each certificate once", first: one + two, second: `${two}\n${one}`, want: one + two },
    { name: "no expired certificate", first: expired + one, second: two + expired, want: one + two },
    { name: "the certificates of the other when one is empty", first: " \n", second: one, want: one },
    { name: "no text between certificates", first: `# one\n${one}trailing`, second: "", want: one },
    { name: "Unix line ends", first: one.replaceAll("\n", "\r\n"), second: one, want: one },
  ];
  test.each(rows)("$name", ({ first, second, want }) => {
    expect(combineBundles(first, second, NOW)).toEqual({ ok: true, value: want });
  });
});

describe("a bundle is rejected when it has", () => {
  const rows: { name: string; given: string; want: string }[] = [
    { name: "no certificate", given: "PEM", want: "the bundle has no certificate" },
    { name: "an unreadable one", given: one + one.replace(/\n.*\n/, "\n?\n"), want: "certificate 2 of the bundle is not readable PEM" },
    { name: "one without an end", given: one + two.slice(0, -40), want: "certificate 2 of the bundle is not readable PEM" },
    { name: "too many", given: one.repeat(1_001), want: "the bundle has more than 1000 certificates" },
  ];
  test.each(rows)("$name", ({ given, want }) => {
    const error = { kind: "invalid-certificate", message: want };
    expect(combineBundles(given, one, NOW)).toEqual({ ok: false, error });
    expect(combineBundles(one, given, NOW)).toEqual({ ok: false, error });
  });
});
