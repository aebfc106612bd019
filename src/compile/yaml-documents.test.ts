import { describe, expect, test } from "vitest";
import { expectOk } from "#base";
import { fieldAt } from "#kube";
import { parseDocuments } from "./yaml-documents.ts";

const score = (variables: string) =>
  `apiVersion: score.dev/v1b1\nmetadata: {name: web}\ncontainers: {main: {image: a, variables: ${variables}}}\n`;
const lattice = (variables: string) => `apiVersion: lattice.dev/v1alpha1\nkind: LatticeService\nmetadata: {name: web}\nspec: {containers: {main: {image: a, variables: ${variables}}}}\n`; // prettier-ignore

describe("NO, on and yes in a Score file", () => {
  test("stay text, as variables and as values", () => {
    const given = score("{COUNTRY: NO, NO: norway, on: yes, y: n, flag: 'true'}");
    const variables = (text: string) => fieldAt(expectOk(parseDocuments(text))[0], "containers", "main", "variables");
    expect(variables(given)).toEqual({ COUNTRY: "NO", NO: "norway", on: "yes", y: "n", flag: "true" });
    expect(variables(`${score("{NO: NO}")}---\n${lattice("{A: b}")}`)).toEqual({ NO: "NO" });
  });
});

describe("in a document that kubectl reads", () => {
  test("a key that kubectl would change is refused", () => {
    expect(parseDocuments(`${score("{NO: a}")}---\n${lattice("{NO: b}")}`)).toMatchObject({
      ok: false,
      error: { message: "the key NO is read as a boolean by kubectl; put it in quotes" },
    });
    expect(parseDocuments("apiVersion: v1\nkind: List\nitems: [{a: 1}, {data: {on: x}}]\n")).toMatchObject({
      error: { message: "the key on is read as a boolean by kubectl; put it in quotes" },
    });
  });

  test("a value is read as kubectl reads it, and quoted keys are text", () => {
    const [document] = expectOk(parseDocuments(lattice("{'NO': NO}")));
    expect(fieldAt(document, "spec", "containers", "main", "variables")).toEqual({ NO: false });
  });

  test("invalid YAML gives one error", () => {
    expect(parseDocuments("a: [no\n")).toMatchObject({ ok: false });
  });
});
