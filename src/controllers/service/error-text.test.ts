import { expect, test } from "vitest";
import type { ServiceError } from "#compile";
import { listErrors } from "./error-text.ts";

const inVariable = (variable: string, message = "config has no field 'x'"): ServiceError => ({
  kind: "template-variable",
  container: "main",
  variable,
  message,
});

test("each error stands with its place and its fix", () => {
  const errors: readonly ServiceError[] = [
    inVariable("A"),
    { kind: "target-not-allowed", namespace: "prod", from: "team", environment: "prod" },
  ];
  expect(listErrors(errors).split("\n")).toEqual([
    "template error in container 'main' variable 'A': config has no field 'x' (at spec.containers.main.variables.A)",
    "namespace team may not deploy into prod (at spec.environment); add team to spec.sourceNamespaces of LatticeEnvironment prod, or write the service in prod",
  ]);
});

test("what does not fit is counted, and one that alone is too long is cut", () => {
  const many = Array.from({ length: 40 }, (_, at) => inVariable(`VARIABLE_${at}`));
  const text = listErrors(many);
  expect(text.length).toBeLessThan(1_024);
  const shown = text.split("\n").length - 1;
  expect(text).toMatch(new RegExp(`\nand ${40 - shown} more$`));
  expect(listErrors([inVariable("A", "x".repeat(5_000))]).length).toBeLessThan(1_000);
  expect(listErrors([])).toBe("");
});
