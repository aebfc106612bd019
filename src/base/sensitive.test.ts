import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createLogger, silentLogger, type LogFields } from "./log.ts";
import { isSecretName, redact, reveal, sensitive } from "./sensitive.ts";

const CANARY = "s3cr3t-canary-value";

describe("Sensitive", () => {
  const hidden = sensitive(CANARY);

  it.each([
    { way: "as text", text: () => String(hidden) },
    { way: "in a template", text: () => `${hidden}` },
    { way: "by adding", text: () => "" + (hidden as unknown as string) },
    { way: "as JSON", text: () => JSON.stringify({ hidden }) },
    { way: "by inspect", text: () => inspect({ hidden }, { depth: 9, showHidden: true }) },
    { way: "spread into an object", text: () => JSON.stringify({ ...hidden }) },
    { way: "by its keys", text: () => [...Object.keys(hidden), ...Object.values(hidden as object)].join() },
    { way: "cloned", text: () => inspect(structuredClone(hidden)) },
  ])("does not show $way", ({ text }) => {
    expect(text()).not.toContain(CANARY);
  });

  it("reveal returns the value", () => {
    expect(reveal(hidden)).toBe(CANARY);
  });
});

describe("redact", () => {
  it.each([
    { name: "wrapped values", given: { a: { b: [sensitive(CANARY)] } } },
    {
      name: "fields whose names mean secrets",
      given: { headers: { Authorization: `Bearer ${CANARY}` }, "client-key-data": CANARY, apiKey: CANARY },
    },
    { name: "the data of Secrets", given: { object: { kind: "Secret", data: { x: CANARY }, stringData: { y: CANARY } } } },
    { name: "bytes", given: { body: new TextEncoder().encode(CANARY) } },
  ])("cuts out $name", ({ given }) => {
    expect(JSON.stringify(redact(given))).not.toContain(CANARY);
  });

  it("keeps harmless values", () => {
    expect(redact({ a: 1, b: "x", c: null, d: [true], kind: "ConfigMap", data: { k: "v" }, token: false })).toEqual({
      a: 1,
      b: "x",
      c: null,
      d: [true],
      kind: "ConfigMap",
      data: { k: "v" },
      token: false,
    });
  });

  it("keeps an error's name and message, never its stack", () => {
    expect(redact(new TypeError("bad"))).toEqual({ name: "TypeError", message: "bad" });
  });

  it("terminates on deep and circular values", () => {
    const circular: Record<string, unknown> = {};
    circular["self"] = circular;
    expect(JSON.stringify(redact(circular))).toContain("[deep]");
  });

  it("never pollutes a prototype", () => {
    redact(JSON.parse('{"__proto__": {"polluted": true}}'));
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("recognises common field names of secrets", () => {
    expect(["password", "Token", "client-key-data", "set-cookie"].every(isSecretName)).toBe(true);
    expect(["name", "tokens_total", "secretName"].some(isSecretName)).toBe(false);
  });
});

describe("Logger", () => {
  function capture() {
    const lines: { level: string; message: string; fields: LogFields }[] = [];
    return { lines, logger: createLogger((level, message, fields) => lines.push({ level, message, fields })) };
  }

  it("logs a constant message and fields, including bound fields", () => {
    const { lines, logger } = capture();
    logger.with({ controller: "cluster" }).info("reconciled", { name: "a" });
    expect(lines).toEqual([{ level: "info", message: "reconciled", fields: { controller: "cluster", name: "a" } }]);
  });

  it("logs no secret at any level, in any position", () => {
    const { lines, logger } = capture();
    fc.assert(
      fc.property(fc.array(fc.string(), { maxLength: 5 }), (path) => {
        const nested = path.reduce<unknown>((inner, name) => ({ [name]: inner }), sensitive(CANARY));
        for (const level of ["debug", "info", "warn", "error"] as const) logger.with({ bound: nested })[level]("something", { nested });
      }),
    );
    expect(JSON.stringify(lines)).not.toContain(CANARY);
  });

  it("can be silent", () => {
    expect(() => silentLogger.error("not written")).not.toThrow();
  });
});
