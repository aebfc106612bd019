/** The arguments of `curl` of a local machine, and its --config file. Reads files that arguments name. */
import { andThen, err, ok, type Result } from "#base";
import { lastValue, readFlags, type FlagTable, type ReadFlags } from "./flags.ts";

export type CurlRequest = {
  readonly url: string;
  readonly method: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body?: string | undefined;
  /** A file with the authorities that are trusted. */
  readonly authorities: string;
  readonly output?: string | undefined;
  /** Statuses from 400 on are errors. */
  readonly fail: boolean;
  readonly silent: boolean;
  readonly showError: boolean;
  readonly maxTimeMs?: number | undefined;
  readonly connectTimeoutMs?: number | undefined;
  readonly retries: number;
  /** Also errors of connections. */
  readonly retryConnections: boolean;
};

const CAN =
  "curl of a local machine can only do: [-sSf] [-X METHOD] [-H HEADER|@FILE] [-d DATA] [--data-binary DATA|@FILE] [-o FILE] [--max-time SECONDS] [--connect-timeout SECONDS] [--retry N] [--config FILE] --cacert FILE https://…";

const SHORT = { s: "silent", S: "show-error", f: "fail", X: "request", H: "header", d: "data", o: "output", m: "max-time", K: "config" };
const long = (names: readonly string[]) => [
  ...names.map((name) => [name, name] as const),
  ...Object.entries(SHORT).filter(([, name]) => names.includes(name)),
];
const FLAGS: FlagTable = {
  withValue: new Map(
    long([
      "request",
      "header",
      "data",
      "data-binary",
      "output",
      "max-time",
      "connect-timeout",
      "retry",
      "config",
      "cacert",
      "proto",
      "url",
    ]),
  ),
  withoutValue: new Map(long(["silent", "show-error", "fail", "retry-connrefused", "retry-all-errors", "tlsv1.3"])),
};

export type ReadText = (path: string) => Result<string, string>;

export function parseCurlArgs(args: readonly string[], read: ReadText): Result<CurlRequest, string> {
  const own = readFlags(args, FLAGS);
  if (!own.ok) return err(`${own.error}: ${CAN}`);
  const config = lastValue(own.value, "config");
  if (config === undefined) return requestOf(own.value, read);
  return andThen(read(config), (text) => {
    const both = readFlags([...configArgs(text), ...args], FLAGS);
    return both.ok ? requestOf(both.value, read) : err(`${config}: ${both.error}: ${CAN}`);
  });
}

function requestOf(flags: ReadFlags, read: ReadText): Result<CurlRequest, string> {
  const urls = [...flags.operands, ...flags.flags.flatMap(({ name, value }) => (name === "url" ? [value] : []))];
  const [url = ""] = urls;
  const isSet = (name: string) => lastValue(flags, name) !== undefined;
  const authorities = lastValue(flags, "cacert");
  const proto = lastValue(flags, "proto") ?? "=https";
  if (urls.length !== 1 || !/^https:\/\//i.test(url) || !URL.canParse(url) || proto !== "=https" || authorities === undefined)
    return err(CAN);
  const headers = headersOf(flags, read);
  if (!headers.ok) return headers;
  const body = bodyOf(flags, read);
  if (!body.ok) return body;
  const numbers = ["max-time", "connect-timeout", "retry"].map((name) => Number(lastValue(flags, name) ?? "0"));
  if (numbers.some((number) => !Number.isFinite(number) || number < 0 || number > 3_600)) return err(`a number is needed: ${CAN}`);
  const [maxTime = 0, connectTimeout = 0, retries = 0] = numbers;
  const isForm = isSet("data") && !headers.value.some(([name]) => name.toLowerCase() === "content-type");
  return ok({
    url,
    method: lastValue(flags, "request") ?? (body.value === undefined ? "GET" : "POST"),
    headers: isForm ? [...headers.value, ["content-type", "application/x-www-form-urlencoded"]] : headers.value,
    body: body.value,
    authorities,
    output: lastValue(flags, "output"),
    fail: isSet("fail"),
    silent: isSet("silent"),
    showError: isSet("show-error"),
    maxTimeMs: maxTime === 0 ? undefined : maxTime * 1_000,
    connectTimeoutMs: connectTimeout === 0 ? undefined : connectTimeout * 1_000,
    retries,
    retryConnections: isSet("retry-connrefused") || isSet("retry-all-errors"),
  });
}

/** A header that is a file has one per line, so that a token is in no argument. */
function headersOf({ flags }: ReadFlags, read: ReadText): Result<readonly (readonly [string, string])[], string> {
  const found: (readonly [string, string])[] = [];
  for (const { value } of flags.filter(({ name }) => name === "header")) {
    const text = value.startsWith("@") ? read(value.slice(1)) : ok(value);
    if (!text.ok) return text;
    for (const line of text.value.split(/\r?\n/).filter((one) => one.trim() !== "")) {
      const [, name = "", content = ""] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\u0020-\u007e\u0080-\u00ff]*)$/.exec(line) ?? [];
      if (name === "") return err("a header must be NAME: VALUE");
      found.push([name, content.trimEnd()]);
    }
  }
  return ok(found);
}

function bodyOf({ flags }: ReadFlags, read: ReadText): Result<string | undefined, string> {
  const parts: string[] = [];
  for (const { name, value } of flags.filter((flag) => flag.name === "data" || flag.name === "data-binary")) {
    const text = value.startsWith("@") ? read(value.slice(1)) : ok(value);
    if (!text.ok) return text;
    parts.push(name === "data" && value.startsWith("@") ? text.value.replaceAll(/[\r\n]/g, "") : text.value);
  }
  return ok(parts.length === 0 ? undefined : parts.join("&"));
}

/** `name = "value"`, `name value` or `name`, with or without dashes; `#` begins a comment. */
function configArgs(text: string): readonly string[] {
  return text.split(/\r?\n/).flatMap((line) => {
    const [, dashes = "", name = "", value = ""] = /^\s*(-{0,2})([A-Za-z0-9.-]+)\s*[=:\s]?\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === "") return [];
    const flag = dashes === "-" ? `-${name}` : `--${name}`;
    return value === "" ? [flag] : [flag, value.startsWith('"') ? value.slice(1, -1).replaceAll(/\\(.)/g, "$1") : value];
  });
}
