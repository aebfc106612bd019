import { describe, expect, it } from "vitest";
import { createLogger, sensitive } from "#base";
import { createLogSink, type LogOptions } from "./logging.ts";

function capture(options: Pick<LogOptions, "level" | "format">) {
  const lines: string[] = [];
  const sink = createLogSink({ ...options, write: (line) => lines.push(line), now: () => Date.UTC(2026, 0, 1, 10, 11, 12) });
  return { lines, logger: createLogger(sink) };
}

describe("log sinks", () => {
  it("JSON: a constant message, level as text, fields beside it", () => {
    const { lines, logger } = capture({ level: "info", format: "json" });
    logger.info("reconciled", { controller: "cluster", ms: 12 });
    expect(JSON.parse(lines[0] ?? "")).toMatchObject({
      level: "info",
      message: "reconciled",
      controller: "cluster",
      ms: 12,
      time: expect.stringContaining("T") as string,
    });
    expect(lines[0]?.endsWith("\n")).toBe(true);
  });

  it("text: one readable line", () => {
    const { lines, logger } = capture({ level: "info", format: "text" });
    logger.warn("cannot reach the API server", { url: "https://127.0.0.1:6443", cause: "connection refused", gone: undefined });
    expect(lines).toEqual(['10:11:12 warn  cannot reach the API server url=https://127.0.0.1:6443 cause="connection refused"\n']);
  });

  it.each(["json", "text"] as const)("%s: below the level nothing is written, and secrets are never written", (format) => {
    const { lines, logger } = capture({ level: "warn", format });
    logger.info("quiet");
    logger.error("loud", { token: "canary", nested: { hidden: sensitive("canary") } });
    expect(lines).toHaveLength(1);
    expect(lines.join()).not.toContain("canary");
  });
});
