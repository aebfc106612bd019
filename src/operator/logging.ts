/**
 * Log sinks: JSON by pino for machines, one readable line for people. Fields are redacted before (base/log.ts), so a sink
 * cannot leak a secret.
 */
import { pino, stdTimeFunctions } from "pino";
import type { LogFields, LogLevel, LogSink } from "#base";

const LOG_LEVELS = ["debug", "info", "warn", "error"] as const satisfies readonly LogLevel[];
const LOG_FORMATS = ["json", "text"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

export type LogOptions = {
  readonly level: LogLevel;
  readonly format: LogFormat;
  readonly write: (line: string) => void;
  readonly now: () => number;
};

export function createLogSink(options: LogOptions): LogSink {
  return options.format === "json" ? jsonSink(options) : textSink(options);
}

function jsonSink({ level, write }: LogOptions): LogSink {
  const target = pino(
    { level, base: null, timestamp: stdTimeFunctions.isoTime, messageKey: "message", formatters: { level: (label) => ({ level: label }) } },
    { write },
  );
  return (lineLevel, message, fields) => target[lineLevel](fields, message);
}

function textSink({ level, write, now }: LogOptions): LogSink {
  const lowest = LOG_LEVELS.indexOf(level);
  return (lineLevel, message, fields) => {
    if (LOG_LEVELS.indexOf(lineLevel) < lowest) return;
    const time = new Date(now()).toISOString().slice(11, 19);
    write(`${time} ${lineLevel.padEnd(5)} ${message}${formatFields(fields)}\n`);
  };
}

function formatFields(fields: LogFields): string {
  return Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value)}`)
    .join("");
}
