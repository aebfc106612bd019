import { describe, expect, it } from "vitest";
import {
  parseDataKey,
  parseDnsLabel,
  parseDnsSubdomain,
  parseEnvName,
  parseLabelKey,
  parseLabelValue,
  parseNamespace,
  parsePortName,
} from "./names.ts";

describe("names", () => {
  it.each([
    {
      what: "label",
      parse: parseDnsLabel,
      good: ["a", "a-b", "0a", "a".repeat(63)],
      bad: ["", "a-", "-a", "A", "a.b", "a_b", "a".repeat(64)],
    },
    {
      what: "subdomain",
      parse: parseDnsSubdomain,
      good: ["a.b", "a-b.c0", "a".repeat(253)],
      bad: ["", ".a", "a.", "a..b", "a-.b", "A.b", "a".repeat(254)],
    },
    { what: "namespace", parse: parseNamespace, good: ["kube-system"], bad: ["kube.system", ""] },
    { what: "label value", parse: parseLabelValue, good: ["", "a", "A_b.c-d", "1"], bad: ["-a", "a-", "a b", "a".repeat(64)] },
    {
      what: "label key",
      parse: parseLabelKey,
      good: ["a", "app.kubernetes.io/name", "A_b"],
      bad: ["", "/a", "a/", "a/b/c", "A.B/c", "a b"],
    },
    { what: "data key", parse: parseDataKey, good: ["a.yaml", "A_b-c", ".hidden", "0"], bad: ["", ".", "..", "..a", "a/b", "a b"] },
    {
      what: "environment name",
      parse: parseEnvName,
      good: ["A", "_a", "A_1", "A-B", "spring.datasource.url"],
      bad: ["", "1A", "A B", "A=B"],
    },
    {
      what: "port name",
      parse: parsePortName,
      good: ["http", "h2-0", "a"],
      bad: ["", "80", "a--b", "-a", "a-", "HTTP", "sixteen-letters-"],
    },
  ])("a $what is what Kubernetes takes, no more and no less", ({ parse, good, bad }) => {
    expect(good.filter((name) => !parse(name).ok)).toEqual([]);
    expect(bad.filter((name) => parse(name).ok)).toEqual([]);
  });

  it("the error describes a valid name", () => {
    expect(parseDnsLabel("My-App-")).toEqual({
      ok: false,
      error:
        "\"My-App-\" must be a lowercase RFC 1123 label: lower case letters, digits and '-', beginning and ending with a letter or digit",
    });
    expect(parseDnsLabel("a".repeat(64))).toMatchObject({
      error: expect.stringContaining("at most 63 characters, and this has 64") as string,
    });
  });

  it("hostile names are rejected in linear time", () => {
    expect(parseDnsSubdomain(`${"a-".repeat(100_000)}!`).ok).toBe(false);
    expect(parseDnsSubdomain(`${"a-".repeat(126)}!`).ok).toBe(false);
  });
});
