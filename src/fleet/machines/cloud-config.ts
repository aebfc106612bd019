/**
 * The bootstrap data of a machine: the part of cloud-config that Cluster API writes, `write_files` and `runcmd`. Other keys are ignored, and
 * reported.
 *
 * Cluster API marks the text as a jinja template. The only variable it uses is the name of the machine.
 */
import { gunzipSync } from "node:zlib";
import { bytesOfBase64, collect, describeThrown, err, fromThrowing, mapErr, ok, type Result } from "#base";
import { field, isJsonObject, parseYaml, type Json } from "#kube";

export type MachineFile = {
  /** As written: absolute, of a machine of its own. */
  readonly path: string;
  readonly content: Uint8Array;
  readonly mode: number;
  readonly append: boolean;
};

/** A line for a shell, or a program with its arguments. */
export type CloudCommand = string | readonly string[];

export type MachineCloudConfig = {
  readonly files: readonly MachineFile[];
  readonly commands: readonly CloudCommand[];
  /** Keys that are not carried out. */
  readonly ignored: readonly string[];
};

/** A Secret has at most 1 MiB; compressed files may be larger. */
const MAX_BOOTSTRAP_BYTES = 2 * 1024 * 1024;
const MAX_FILE_BYTES = 10 * 1024 * 1024;
const MAX_ENTRIES = 1_000;
const DEFAULT_MODE = 0o644;
const MODES = 0o7777;
const NAME_OF_MACHINE = /\{\{\s*ds\.meta_data\.(?:local_hostname|hostname|instance_id)\s*\}\}/g;

export function parseCloudConfig(text: string, machine: string): Result<MachineCloudConfig, string> {
  if (Buffer.byteLength(text) > MAX_BOOTSTRAP_BYTES) return err(`the bootstrap data is larger than ${MAX_BOOTSTRAP_BYTES} bytes`);
  if (!/^#cloud-config[ \t]*$/m.test(text)) return err("the bootstrap data is not a cloud-config: it has no line #cloud-config");
  const isTemplate = /^##\s*template:\s*jinja/.test(text);
  const parsed = parseYaml(isTemplate ? text.replaceAll(NAME_OF_MACHINE, () => machine) : text);
  if (!parsed.ok) return err(`the bootstrap data is not valid YAML: ${parsed.error.message}`);
  const [value = {}, ...more] = parsed.value;
  if (!isJsonObject(value) || more.length > 0) return err("the bootstrap data must be one YAML document with keys");
  const files = entriesOf(value, "write_files", fileOf);
  if (!files.ok) return files;
  const commands = entriesOf(value, "runcmd", commandOf);
  if (!commands.ok) return commands;
  const ignored = Object.keys(value).filter((key) => key !== "write_files" && key !== "runcmd");
  return ok({ files: files.value, commands: commands.value, ignored });
}

function entriesOf<T>(value: Json, key: string, read: (entry: Json, at: string) => Result<T, string>): Result<readonly T[], string> {
  const entries = field(value, key) ?? [];
  if (!Array.isArray(entries)) return err(`${key}: must be a list`);
  if (entries.length > MAX_ENTRIES) return err(`${key}: has more than ${MAX_ENTRIES} entries`);
  return firstError(entries.map((entry, at) => read(entry, `${key}[${at}]`)));
}

function commandOf(entry: Json, at: string): Result<CloudCommand, string> {
  if (typeof entry === "string") return ok(entry);
  if (!Array.isArray(entry) || entry.length === 0) return err(`${at}: must be a text or a list of texts`);
  return firstError(entry.map((part) => (typeof part === "object" ? err(`${at}: must be a text or a list of texts`) : ok(String(part)))));
}

function firstError<T>(results: readonly Result<T, string>[]): Result<readonly T[], string> {
  return mapErr(collect(results), ([first = ""]) => first);
}

function fileOf(entry: Json, at: string): Result<MachineFile, string> {
  const path = field(entry, "path");
  if (typeof path !== "string" || !path.startsWith("/") || path.endsWith("/") || path.includes("\0"))
    return err(`${at}.path: must be the absolute path of a file`);
  const mode = modeOf(field(entry, "permissions"));
  if (mode === undefined) return err(`${at}.permissions: must be octal digits such as '0640'`);
  const text = field(entry, "content") ?? "";
  if (typeof text !== "string") return err(`${at}.content: must be a text`);
  const decoded = decode(text, field(entry, "encoding") ?? "");
  if (!decoded.ok) return err(`${at}: ${decoded.error}`);
  return ok({ path, content: decoded.value, mode, append: field(entry, "append") === true });
}

/** YAML reads 0640 without quotes as a number, which is the mode already. */
function modeOf(permissions: Json | undefined): number | undefined {
  if (permissions === undefined || permissions === null) return DEFAULT_MODE;
  if (typeof permissions === "number") return Number.isInteger(permissions) && permissions >= 0 ? permissions & MODES : undefined;
  return typeof permissions === "string" && /^(?:0o)?[0-7]{3,5}$/.test(permissions)
    ? Number.parseInt(permissions.replace("0o", ""), 8) & MODES
    : undefined;
}

const ENCODINGS: ReadonlyMap<string, "text" | "base64" | "gzip"> = new Map([
  ["", "text"],
  ["text/plain", "text"],
  ["b64", "base64"],
  ["base64", "base64"],
  ...["gz+b64", "gz+base64", "gzip+b64", "gzip+base64"].map((name) => [name, "gzip"] as const),
]);

function decode(text: string, encoding: Json): Result<Uint8Array, string> {
  const known = typeof encoding === "string" ? ENCODINGS.get(encoding) : undefined;
  if (known === undefined) return err(`encoding: must be one of ${[...ENCODINGS.keys()].filter((name) => name !== "").join(", ")}`);
  if (known === "text") return ok(Buffer.from(text, "utf8"));
  const bytes = bytesOfBase64(text);
  if (!bytes.ok) return err(`content: ${bytes.error}`);
  if (known === "base64") return bytes;
  return fromThrowing(
    () => gunzipSync(bytes.value, { maxOutputLength: MAX_FILE_BYTES }),
    (thrown) => `content: cannot be decompressed: ${describeThrown(thrown)}`,
  );
}
