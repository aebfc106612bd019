import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { contains, overlaps, parseAddress, parseNetwork, type IpNetwork } from "./networks.ts";

const network = (text: string): IpNetwork => {
  const parsed = parseNetwork(text);
  if (parsed === undefined) throw new Error(text);
  return parsed;
};

test.each([
  { text: "10.0.0.1", want: 0x0a000001n },
  { text: "::1", want: 1n },
  { text: "fd00::1:0", want: (0xfd00n << 112n) + 0x10000n },
  { text: "1:2:3:4:5:6:7:8", want: 0x0001000200030004000500060007_0008n },
  { text: "10.0.0", want: undefined },
  { text: "a.example.com", want: undefined },
])("the address $text", ({ text, want }) => {
  expect(parseAddress(text)?.value).toBe(want);
});

describe("networks", () => {
  test.each([
    { a: "10.0.0.0/8", b: "10.1.0.0/16", want: true },
    { a: "10.0.0.0/16", b: "10.1.0.0/16", want: false },
    { a: "0.0.0.0/0", b: "192.168.0.0/16", want: true },
    { a: "::/0", b: "192.168.0.0/16", want: false },
    { a: "fd00::/8", b: "fd12::/64", want: true },
    { a: "10.0.255.255/8", b: "10.255.0.0/16", want: true },
  ])("$a and $b overlap: $want", ({ a, b, want }) => {
    expect([overlaps(network(a), network(b)), overlaps(network(b), network(a))]).toEqual([want, want]);
  });

  test.each(["10.0.0.0/33", "fd00::/129", "10.0.0.0", "10.0.0.0/x", "10.0.0/8", "/8"])("%s is not a network", (text) => {
    expect(parseNetwork(text)).toBeUndefined();
  });

  test("two networks overlap if and only if one contains the first address of the other", () => {
    const cidr = fc
      .tuple(fc.nat(255), fc.nat(255), fc.integer({ min: 0, max: 32 }))
      .map(([b, c, bits]) => network(`10.${b}.${c}.0/${bits}`));
    fc.assert(
      fc.property(cidr, cidr, (a, b) => {
        const first = ({ family, first: value }: IpNetwork) => ({ family, value });
        expect(overlaps(a, b)).toBe(contains(a, first(b)) || contains(b, first(a)));
      }),
    );
  });
});
