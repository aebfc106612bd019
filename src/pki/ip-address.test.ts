import { expect, test } from "vitest";
import { ipAddressBytes } from "./ip-address.ts";

const rows = [
  { name: "IPv4", given: "10.0.0.1", want: "0a000001" },
  { name: "IPv6 written out", given: "2001:db8:0:1:2:3:4:5", want: "20010db8000000010002000300040005" },
  { name: "IPv6 with a gap in the middle", given: "2001:db8::1", want: "20010db8000000000000000000000001" },
  { name: "IPv6 with a gap at the end", given: "fe80::", want: "fe800000000000000000000000000000" },
  { name: "the IPv6 loopback", given: "::1", want: "00000000000000000000000000000001" },
  { name: "IPv4 inside IPv6", given: "::ffff:10.0.0.1", want: "00000000000000000000ffff0a000001" },
  { name: "an address with a zone", given: "fe80::1%eth0", want: undefined },
  { name: "a name", given: "example.org", want: undefined },
  { name: "a number that is too large", given: "10.0.0.256", want: undefined },
];
test.each(rows)("$name", ({ given, want }) => {
  const bytes = ipAddressBytes(given);
  expect(bytes && Buffer.from(bytes).toString("hex")).toBe(want);
});
