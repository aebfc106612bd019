import { describe, expect, it } from "vitest";
import { isCidr, isIpv4, isIpv6 } from "./addresses.ts";

describe("isCidr agrees with Go's netip.ParsePrefix on", () => {
  const rows = [
    { given: "10.0.0.0/8", want: true },
    { given: "172.18.255.1/32", want: true },
    { given: "0.0.0.0/0", want: true },
    { given: "fd00::/64", want: true },
    { given: "::/0", want: true },
    { given: "1:2:3:4:5:6:7:8/128", want: true },
    { given: "10.0.0.0", want: false },
    { given: "10.0.0.0/33", want: false },
    { given: "10.0.0.0/08", want: false },
    { given: "10.0.0.0/", want: false },
    { given: "10.0.0/8", want: false },
    { given: "10.0.0.256/8", want: false },
    { given: "010.0.0.0/8", want: false },
    { given: "fd00::/129", want: false },
    { given: "fd00:::/64", want: false },
    { given: "1::2::3/64", want: false },
    { given: "1:2:3:4:5:6:7/64", want: false },
    { given: "1:2:3:4:5:6:7:8:9/64", want: false },
    { given: "g::/64", want: false },
    { given: "/8", want: false },
    { given: "", want: false },
  ];
  it.each(rows)("$given", ({ given, want }) => {
    expect(isCidr(given)).toBe(want);
  });

  it("distinguishes the two families", () => {
    expect([isIpv4("1.2.3.4"), isIpv6("1.2.3.4"), isIpv4("::1"), isIpv6("::1")]).toEqual([true, false, false, true]);
  });
});
