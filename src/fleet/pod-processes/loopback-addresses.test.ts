import { describe, expect, test } from "vitest";
import { withLoopbackAddresses } from "./loopback-addresses.ts";

const WEBHOOK = ["--webhook-address", "127.0.0.1:0"];

describe("addresses of an operator that is a process", () => {
  test.each([
    { name: "the webhook gets an address", given: ["operator"], want: ["operator", ...WEBHOOK] },
    {
      name: "those of a Pod become loopback",
      given: ["operator", "--health-address", "0.0.0.0:8080", "--resync", "1m"],
      want: ["operator", "--health-address", "127.0.0.1:0", "--resync", "1m", ...WEBHOOK],
    },
    { name: "also after =", given: ["--health-address=[::]:8080"], want: ["--health-address=127.0.0.1:0", ...WEBHOOK] },
    {
      name: "loopback addresses stay",
      given: ["--health-address", "127.0.0.2:80", "--webhook-address=[::1]:9443"],
      want: ["--health-address", "127.0.0.2:80", "--webhook-address=[::1]:9443"],
    },
    {
      name: "a name that only looks like loopback does not",
      given: ["--health-address=127.0.0.1.example.com:1"],
      want: ["--health-address=127.0.0.1:0", ...WEBHOOK],
    },
    { name: "a webhook elsewhere becomes loopback", given: ["--webhook-address", "10.0.0.1:443"], want: WEBHOOK },
  ])("$name", ({ given, want }) => {
    expect(withLoopbackAddresses(given)).toEqual(want);
  });
});
