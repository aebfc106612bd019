import { expect, test } from "vitest";
import type { ServiceError } from "#compile";
import { listErrors, notCompiledOutcome, waitingText } from "./error-text.ts";

const inVariable = (variable: string, message = "config has no field 'x'"): ServiceError => ({
  kind: "template-variable",
  container: "main",
  variable,
  message,
});

test("each error is listed with its field and its fix", () => {
  const errors: readonly ServiceError[] = [
    inVariable("A"),
    { kind: "target-not-allowed", namespace: "prod", from: "team", environment: "prod" },
  ];
  expect(listErrors(errors).split("\n")).toEqual([
    "template error in container 'main' variable 'A': config has no field 'x' (at spec.containers.main.variables.A)",
    "namespace team may not deploy into prod (at spec.environment); add team to spec.sourceNamespaces of LatticeEnvironment prod, or write the service in prod",
  ]);
});

test("errors that do not fit are counted, and a single one that is too long is truncated", () => {
  const many = Array.from({ length: 40 }, (_, at) => inVariable(`VARIABLE_${at}`));
  const text = listErrors(many);
  expect(text.length).toBeLessThan(1_024);
  const shown = text.split("\n").length - 1;
  expect(text).toMatch(new RegExp(`\nand ${40 - shown} more$`));
  expect(listErrors([inVariable("A", "x".repeat(5_000))]).length).toBeLessThan(1_000);
  expect(listErrors([])).toBe("");
});

test("absent objects are listed up to a limit, and any other error means that the service does not wait", () => {
  const absent = (name: string, type: string): ServiceError => ({ kind: "resource-not-found", name, type, id: `shop/${name}` });
  const all = ["a", "b", "c", "d", "e"].map((name) => absent(name, "service"));
  expect(waitingText(all)).toMatch(/^waiting for service shop\/a and service shop\/b and service shop\/c and 2 more: resource 'a'/);
  expect(waitingText([absent("pay", "external-service")])).toMatch(/^waiting for external service shop\/pay: /);
  expect(waitingText([...all, inVariable("A")])).toBeUndefined();
  expect(waitingText([])).toBeUndefined();
  expect(notCompiledOutcome(all)).toMatchObject({ kind: "waiting", reason: "DependencyNotFound" });
  expect(notCompiledOutcome([inVariable("A")])).toMatchObject({ kind: "stalled", reason: "CompileError" });
});
