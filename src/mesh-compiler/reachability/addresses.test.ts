import { expect, test } from "vitest";
import { addressIn } from "./addresses.ts";

const rows: readonly { given: readonly [string, string]; want: boolean }[] = [
  { given: ["10.0.0.1", "10.0.0.1/32"], want: true },
  { given: ["10.0.0.1", "10.0.0.1"], want: true },
  { given: ["10.0.0.2", "10.0.0.1"], want: false },
  { given: ["10.255.0.1", "10.0.0.0/8"], want: true },
  { given: ["11.0.0.0", "10.0.0.0/8"], want: false },
  { given: ["1.2.3.4", "0.0.0.0/0"], want: true },
  { given: ["::1", "0.0.0.0/0"], want: false },
  { given: ["2001:db8::1", "2001:db8::/32"], want: true },
  { given: ["2001:db9::1", "2001:db8::/32"], want: false },
  { given: ["[fd00::1]", "fd00::/8"], want: true },
  { given: ["1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8/128"], want: true },
  { given: ["256.0.0.1", "0.0.0.0/0"], want: false },
  { given: ["1.2.3", "0.0.0.0/0"], want: false },
  { given: ["1::2::3", "::/0"], want: false },
  { given: ["1:2:3", "::/0"], want: false },
  { given: ["1:2:3:4:5:6:7:8::", "::/0"], want: false },
  { given: ["g::1", "::/0"], want: false },
  { given: ["10.0.0.1", "10.0.0.0/33"], want: false },
  { given: ["api.test", "0.0.0.0/0"], want: false },
];
test.each(rows)("$given: $want", ({ given: [address, cidr], want }) => expect(addressIn(address, cidr)).toBe(want));
