/**
 * The public JSON Schema of Score v1b1, so that a mistake is reported with its path in the Score file before the translation.
 *
 * Stricter rules of Lattice (port names, variable names) are checked after the translation, with the path in the Score file.
 */
import * as z from "zod";
import { once } from "#base";
import { didYouMean } from "#crds";
import type { ScoreError } from "./error.ts";
import { CPU, ID, MEMORY, MODE, NAME, TYPE } from "./patterns.ts";
import { isSoundScore } from "./sound-score.ts";

// lazy: zod runs only for files with mistakes
const name = () =>
  z.string().max(63).regex(NAME, { error: "must be 2 to 63 lower case letters, digits and '-', and neither begin nor end with '-'" });
const words = () => z.array(z.string());
const port = () => z.int().min(1).max(65_535);

const file = () =>
  z.strictObject({
    mode: z.string().regex(MODE, { error: 'must be three octal digits in quotes, such as "0644"' }).optional(),
    source: z.string().min(1).optional(),
    content: z.string().optional(),
    binaryContent: z.string().optional(),
    noExpand: z.boolean().optional(),
  });

const volume = () => z.strictObject({ source: z.string(), path: z.string().optional(), readOnly: z.boolean().optional() });

const amounts = () =>
  z.strictObject({
    memory: z.string().regex(MEMORY, { error: "must be an amount of memory, such as 128Mi" }).optional(),
    cpu: z.string().regex(CPU, { error: "must be a number of CPUs, such as 2 or 125m" }).optional(),
  });

const httpGet = () =>
  z.strictObject({
    host: z.string().min(1).optional(),
    scheme: z.enum(["HTTP", "HTTPS"]).optional(),
    path: z.string(),
    port: port(),
    httpHeaders: z.array(z.strictObject({ name: z.string(), value: z.string().min(1) })).optional(),
  });

const probe = () =>
  z
    .strictObject({ httpGet: httpGet().optional(), exec: z.strictObject({ command: words() }).optional() })
    .refine((one) => one.httpGet !== undefined || one.exec !== undefined, { error: "needs httpGet or exec" });

const container = () =>
  z.strictObject({
    image: z.string().min(1),
    command: words().optional(),
    args: words().optional(),
    variables: z.record(z.string(), z.string()).optional(),
    files: z.record(z.string(), file()).optional(),
    volumes: z.record(z.string(), volume()).optional(),
    before: z.record(name(), z.strictObject({ ready: z.enum(["started", "healthy", "complete"]) })).optional(),
    resources: z.strictObject({ limits: amounts().optional(), requests: amounts().optional() }).optional(),
    livenessProbe: probe().optional(),
    readinessProbe: probe().optional(),
  });

const annotations = () => z.record(z.string(), z.string());

const resource = () =>
  z.strictObject({
    type: z.string().regex(TYPE, { error: "must be 2 to 63 letters, digits and '-'" }),
    class: z.string().regex(TYPE, { error: "must be 2 to 63 letters, digits and '-'" }).optional(),
    id: z.string().max(63).regex(ID, { error: "must be lower case letters, digits, '-' and '.'" }).optional(),
    metadata: z.looseObject({ annotations: annotations().optional() }).optional(),
    params: z.record(z.string(), z.unknown()).optional(),
  });

const workload = () =>
  z.strictObject({
    apiVersion: z.literal("score.dev/v1b1"),
    metadata: z.looseObject({ name: name(), annotations: annotations().optional() }),
    service: z
      .strictObject({
        ports: z
          .record(name(), z.strictObject({ port: port(), protocol: z.enum(["TCP", "UDP"]).optional(), targetPort: port().optional() }))
          .optional(),
      })
      .optional(),
    containers: z.record(name(), container()).refine((all) => Object.keys(all).length > 0, { error: "must have at least one container" }),
    resources: z.record(name(), resource()).optional(),
  });

export type ScoreWorkload = z.output<ReturnType<typeof workload>>;
export type ScoreContainer = z.output<ReturnType<typeof container>>;
export type ScoreResource = z.output<ReturnType<typeof resource>>;

export function checkScore(value: unknown): { readonly workload: ScoreWorkload } | { readonly errors: readonly ScoreError[] } {
  return isSoundScore(value) ? { workload: value as ScoreWorkload } : checkClosely(value);
}

const schema = once(workload);

/** Validates with zod, which gives the messages. */
export function checkClosely(value: unknown): ReturnType<typeof checkScore> {
  const parsed = schema().safeParse(value, { reportInput: true });
  return parsed.success ? { workload: parsed.data } : { errors: wordIssues(parsed.error.issues) };
}

/** Limit of reported mistakes of one file, to bound the time. */
const MOST_ERRORS = 100;

function wordIssues(issues: readonly Issue[]): readonly ScoreError[] {
  const errors: ScoreError[] = [];
  for (const issue of issues) {
    if (errors.length > MOST_ERRORS) break;
    const all = issue.code === "unrecognized_keys" ? { ...issue, keys: issue.keys.slice(0, MOST_ERRORS + 1) } : issue;
    errors.push(...wordIssue(all));
  }
  if (errors.length <= MOST_ERRORS) return errors;
  return [...errors.slice(0, MOST_ERRORS), { kind: "invalid", path: "", message: "further mistakes are not listed; correct these first" }];
}

type Issue = z.core.$ZodIssue;

function wordIssue(issue: Issue): readonly ScoreError[] {
  const path = pathText(issue.path);
  if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownField(issue.path, key));
  if (issue.code === "invalid_key") return [{ kind: "invalid", path, message: issue.issues[0]?.message ?? "is no legal name" }];
  if (issue.code === "invalid_type") {
    if (issue.input === undefined) return [{ kind: "invalid", path, message: "is required" }];
    return [{ kind: "invalid", path, message: `must be ${WORDS[issue.expected] ?? issue.expected}, and is ${kindOf(issue.input)}` }];
  }
  if (issue.code === "invalid_value") return [{ kind: "invalid", path, message: `must be ${issue.values.map(String).join(" or ")}` }];
  return [{ kind: "invalid", path, message: issue.message }];
}

const WORDS: Readonly<Record<string, string>> = {
  string: "a text",
  int: "a whole number",
  number: "a number",
  boolean: "true or false",
  object: "a map",
  record: "a map",
  array: "a list",
};

function kindOf(value: unknown): string {
  if (value === null) return "empty";
  if (Array.isArray(value)) return "a list";
  return WORDS[typeof value] ?? typeof value;
}

/** The known fields by path, to suggest the intended name. */
const KNOWN: readonly (readonly [RegExp, () => readonly string[]])[] = [
  [/^$/, () => Object.keys(workload().shape)],
  [/^service$/, () => ["ports"]],
  [/^service\.ports\.[^.]+$/, () => ["port", "protocol", "targetPort"]],
  [/^containers\.[^.]+$/, () => Object.keys(container().shape)],
  [/\.files\[/, () => Object.keys(file().shape)],
  [/\.volumes\[/, () => Object.keys(volume().shape)],
  [/\.httpGet$/, () => Object.keys(httpGet().shape)],
  [/Probe$/, () => ["httpGet", "exec"]],
  [/^resources\.[^.]+$/, () => Object.keys(resource().shape)],
];

function unknownField(at: readonly PropertyKey[], key: string): ScoreError {
  const path = pathText([...at, key]);
  const known = KNOWN.find(([pattern]) => pattern.test(pathText(at)))?.[1]() ?? [];
  return { kind: "invalid", path, message: `is not a field of Score v1b1${didYouMean(key, known)}` };
}

/** `containers.main.files["/etc/x"].mode`: names after dots, anything else in brackets. */
export function pathText(path: readonly PropertyKey[]): string {
  return path.map(stepText).join("").replace(/^\./, "");
}

export function stepText(step: PropertyKey): string {
  if (typeof step === "number") return `[${step}]`;
  const text = String(step);
  return /^[A-Za-z0-9_-]+$/.test(text) ? `.${text}` : `["${text}"]`;
}
