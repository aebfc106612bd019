/**
 * Logging as a port: a constant message and fields. The constant can be searched for; variable parts are fields.
 *
 * Every sink gets its fields through `redact`, so that secrets do not reach a log.
 */
import { redact } from "./sensitive.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";
export type LogFields = Readonly<Record<string, unknown>>;

/** Where log lines are written. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** A logger that adds these fields to every line. */
  with(fields: LogFields): Logger;
}

export type LogSink = (level: LogLevel, message: string, fields: LogFields) => void;

export function createLogger(sink: LogSink, bound: LogFields = {}): Logger {
  const write = (level: LogLevel) => (message: string, fields?: LogFields) => {
    sink(level, message, redact({ ...bound, ...fields }) as LogFields);
  };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    with: (fields) => createLogger(sink, { ...bound, ...fields }),
  };
}

export const silentLogger: Logger = createLogger(() => {});
