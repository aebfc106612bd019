/**
 * `lattice init`: writes LatticeServices, from a Docker Compose file, from a Score file, or a first one with comments. Fields without an
 * equivalent in a LatticeService are listed on stderr with their lines.
 *
 * Exit code 0: written, 1: the file cannot be converted or something would be overwritten, 2: it cannot be read, or the flags are invalid.
 */
import { existsSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describeThrown, err, fromPromise, fromThrowing, ok, type Result } from "#base";
import { convertCompose, isCompose, isScore, parseScore, type ComposeNotice } from "#compile";
import { fieldAt, findField, formatYaml, formatYamlDocuments, parseDnsLabel, parseYaml, yamlPositions, type Json } from "#kube";
import { createFolder } from "#pki";
import { starterService } from "./init/starter.ts";
import { reportFailure, type CliIo, type ExitCode } from "./io.ts";
import { fileText } from "./located-problems.ts";
import { MAX_SMALL_FILE, readRegularText } from "./regular-file.ts";
import { sourceFiles } from "./source-files.ts";

export type InitFlags = { readonly from?: string; readonly out?: string; readonly force?: boolean };

export async function init(io: CliIo, name: string | undefined, flags: InitFlags): Promise<ExitCode> {
  const { from } = flags;
  if (from === undefined) return writeStarter(io, name ?? "hello", flags);
  if (name !== undefined) return reportFailure(io, "give a name, or a file with --from, whose services have names; not both");
  const text = await readInput(io, from);
  if (!text.ok) return reportFailure(io, `${from}: ${text.error}`);
  const converted = convert(io, { file: from, text: text.value });
  if (!converted.ok) {
    io.stderr(converted.error);
    return 1;
  }
  const { services, notices } = converted.value;
  io.stderr(notices);
  const files = services.map((service) => ({ name: `${nameOf(service)}.yaml`, text: formatYaml(service) }));
  return flags.out === undefined ? print(io, formatYamlDocuments(services)) : writeFiles(io, files, { ...flags, out: flags.out });
}

function writeStarter(io: CliIo, name: string, flags: InitFlags): ExitCode {
  const parsed = parseDnsLabel(name);
  if (!parsed.ok) return reportFailure(io, `the name of the service: ${parsed.error}`);
  const text = starterService(name);
  return flags.out === undefined ? print(io, text) : writeFiles(io, [{ name: `${name}.yaml`, text }], { ...flags, out: flags.out });
}

function print(io: CliIo, text: string): ExitCode {
  io.stdout(text);
  return 0;
}

async function readInput(io: CliIo, file: string): Promise<Result<string, string>> {
  if (file !== "-") return readRegularText(resolve(io.cwd, file), { bytes: MAX_SMALL_FILE, pipes: true });
  const text = await fromPromise(io.stdin(), describeThrown);
  return text.ok && text.value.length > MAX_SMALL_FILE ? err("the input has more than 1 MiB") : text;
}

type Input = { readonly file: string; readonly text: string };
type Converted = { readonly services: readonly Json[]; /** Lines for stderr. */ readonly notices: string };

/** The error is printed on stderr. */
function convert(io: CliIo, input: Input): Result<Converted, string> {
  const { file, text } = input;
  // YAML 1.2, as the tools of both formats: `no` is a string
  const parsed = parseYaml(text, { booleans: "yaml-1.2" });
  if (!parsed.ok) {
    const hint = /alias/i.test(parsed.error.message) ? "; docker compose config prints the file without them" : "";
    return err(`error ${fileText({ file, ...parsed.error })}: ${parsed.error.message}${hint}\n`);
  }
  const [value, ...more] = parsed.value;
  if (value === undefined || more.length > 0) return err(`error ${file} has ${parsed.value.length} documents; give a file with one\n`);
  if (isScore(value)) return fromScore(io, input, value);
  if (!isCompose(value)) return err(`error ${file} is neither a Docker Compose file nor a Score file\n`);
  const converted = convertCompose(value);
  if (!converted.ok) return err(`error ${file}: ${converted.error}\n`);
  const positions = yamlPositions(text);
  const located = converted.value.notices.map((notice) => ({ notice, line: positions(1, notice.steps)?.line ?? 1 }));
  const sorted = located.toSorted((a, b) => a.line - b.line);
  return ok({ services: converted.value.services, notices: sorted.map(({ notice, line }) => noticeText(file, line, notice)).join("") });
}

function noticeText(file: string, line: number, { severity, path, message }: ComposeNotice): string {
  return `${severity}: ${file}:${line}: ${path}: ${message}\n`;
}

function fromScore(io: CliIo, { file, text }: Input, value: Json): Result<Converted, string> {
  const files = sourceFiles(io.cwd, (name) => name);
  const positions = yamlPositions(text);
  const notices: string[] = [];
  const image = (workload: string, container: string) => {
    const steps = ["containers", container, "image"];
    const made = `registry.example.com/${workload}:latest`;
    const message = `"." is set by a build, so ${made} was written instead; write the image`;
    notices.push(noticeText(file, positions(1, steps)?.line ?? 1, { severity: "warning", path: steps.join("."), steps, message }));
    return made;
  };
  const parsed = parseScore(value, { readFile: (source) => files.read(files.locate(source, file)), image });
  if (parsed.ok) return ok({ services: [parsed.value as unknown as Json], notices: notices.join("") });
  const lines = parsed.error.map(({ path, message }) => {
    const position = positions(1, findField(value, path).steps);
    return `error ${fileText({ file, ...position })}: ${path === "" ? "" : `${path}: `}${message}\n`;
  });
  return err(lines.join(""));
}

function nameOf(service: Json): string {
  const name = fieldAt(service, "metadata", "name");
  return typeof name === "string" ? name : "";
}

type OutFile = { readonly name: string; readonly text: string };

/** Writes all files or none: nothing is written when one of them exists. */
function writeFiles(io: CliIo, files: readonly OutFile[], { out, force }: InitFlags & { readonly out: string }): ExitCode {
  const home = resolve(io.cwd, out);
  const there = force === true ? undefined : files.find(({ name }) => existsSync(join(home, name)));
  if (there !== undefined) return reportFailure(io, `${join(out, there.name)} exists; use --force to overwrite it`);
  const made = createFolder(home, 0o777);
  if (!made.ok) return reportFailure(io, made.error);
  for (const { name, text } of files) {
    const written = fromThrowing(() => writeFileSync(join(home, name), text, { flag: force === true ? "w" : "wx" }), describeThrown);
    if (!written.ok) return reportFailure(io, `${join(out, name)} cannot be written: ${written.error}`);
  }
  const names = files.map(({ name }) => name).toSorted();
  io.stdout(`${names.length === 1 ? "1 file" : `${names.length} files`} in ${out}: ${names.join(", ")}\n`);
  return 0;
}
