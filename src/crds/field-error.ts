/**
 * The errors of an object by field. zod finds them; this file writes the messages, each with the error and a fix, and the field path in
 * the API server's format: `spec.containers[main].image`.
 */
import type * as z from "zod";
import { didYouMean } from "./nearest.ts";
import { below, type Structural } from "./structural.ts";

/** The kind of a field's error. */
export type FieldErrorKind = "required" | "unknown-field" | "wrong-type" | "not-allowed" | "invalid" | "immutable";

/** An error in an object: the field, the error and a fix. */
export type FieldError = {
  readonly kind: FieldErrorKind;
  /** "spec.nodes.controlPlane", "spec.containers[main].image", "spec.mirrors[0].from"; "" for the object itself. */
  readonly path: string;
  readonly message: string;
};

/**
 * "path: message", for people.
 *
 * @example formatFieldError({ kind: "required", path: "spec.containers", message: "is required" })
 */
export function formatFieldError({ path, message }: FieldError): string {
  return path === "" ? message : `${path}: ${message}`;
}

type Issue = z.core.$ZodIssue;

/** Per object: every message costs time, and users do not read more of them. */
const MOST_ERRORS = 100;
/** Users choose the keys of maps, and they may be long. */
const LONGEST_PATH = 1_024;

export function toFieldErrors(issues: readonly Issue[], root: Structural): readonly FieldError[] {
  const errors: FieldError[] = [];
  let left = 0;
  for (const issue of issues) {
    const keys = issue.code === "unrecognized_keys" ? issue.keys : undefined;
    const room = MOST_ERRORS - errors.length;
    left += Math.max(0, (keys?.length ?? 1) - room);
    if (room <= 0) continue;
    errors.push(...(keys === undefined ? [describeIssue(issue, root)] : unknownFields(keys.slice(0, room), issue.path, root)));
  }
  if (left > 0) errors.push({ kind: "invalid", path: "", message: `${left} further mistakes are not listed; correct these first` });
  return errors;
}

function unknownFields(keys: readonly string[], at: readonly PropertyKey[], root: Structural): readonly FieldError[] {
  const known = Object.keys(schemaAt(root, at)?.properties ?? {});
  return keys.map((key) => {
    const path = formatPath(root, [...at, key]);
    const hint = didYouMean(key, known) || `; known here: ${known.join(", ")}`;
    return { kind: "unknown-field", path, message: `unknown field "${path}"${hint}` };
  });
}

function describeIssue(issue: Issue, root: Structural): FieldError {
  const path = formatPath(root, issue.path);
  if (issue.input === undefined && issue.code !== "custom") {
    const description = schemaAt(root, issue.path)?.description;
    return { kind: "required", path, message: description === undefined ? "is required" : `is required: ${description}` };
  }
  const [kind, message] = kindAndMessage(issue);
  return { kind, path, message };
}

function kindAndMessage(issue: Issue): readonly [FieldErrorKind, string] {
  switch (issue.code) {
    case "invalid_type":
      return ["wrong-type", wrongType(issue.expected, issue.input)];
    case "invalid_value":
      return ["not-allowed", notAllowed(issue.values.map(String), issue.input)];
    case "too_small":
      return [
        "invalid",
        issue.minimum === 1 && issue.origin !== "number" ? "must not be empty" : `must be at least ${issue.minimum}${actual(issue.input)}`,
      ];
    case "too_big":
      return ["invalid", tooBig(issue.origin, Number(issue.maximum), issue.input)];
    default: // patterns, unions and rules of this folder have their own message
      return ["invalid", issue.message];
  }
}

const TYPE_NAMES = new Map([
  ["string", "a string"],
  ["int", "a whole number"],
  ["number", "a number"],
  ["boolean", "true or false"],
  ["array", "a list"],
  ["object", "an object"],
  ["record", "an object"],
]);

function wrongType(expected: string, input: unknown): string {
  const quoted = expected === "string" && (typeof input === "number" || typeof input === "boolean") ? "; put it in quotes" : "";
  return `must be ${TYPE_NAMES.get(expected) ?? expected}, and is ${describeType(input)}${quoted}`;
}

function describeType(input: unknown): string {
  if (input === null) return "null";
  if (Array.isArray(input)) return "a list";
  return typeof input === "object" ? "an object" : `a ${typeof input}`;
}

function notAllowed(values: readonly string[], input: unknown): string {
  const given =
    typeof input === "string" ? `, and is "${input.slice(0, 64)}"${didYouMean(input, values)}` : `, and is ${describeType(input)}`;
  return values.length === 1 ? `must be "${values[0]}"${given}` : `must be one of ${values.join(", ")}${given}`;
}

function tooBig(origin: string, maximum: number, input: unknown): string {
  if (typeof input === "string") return `must have at most ${maximum} characters, and has ${input.length}`;
  if (Array.isArray(input)) return `must have at most ${maximum} items, and has ${input.length}`;
  return origin === "int" ? "is too large" : `must be at most ${maximum}${actual(input)}`;
}

function actual(input: unknown): string {
  return typeof input === "number" ? `, and is ${input}` : "";
}

function schemaAt(root: Structural, path: readonly PropertyKey[]): Structural | undefined {
  return path.reduce<Structural | undefined>((schema, segment) => below(schema, segment), root);
}

/** Fields after a dot, items and map keys in brackets: keys may contain dots and slashes. */
export function formatPath(root: Structural, path: readonly PropertyKey[]): string {
  let schema: Structural | undefined = root;
  let written = "";
  for (const segment of path) {
    const isField =
      typeof segment !== "number" && (schema?.additionalProperties === undefined || Object.hasOwn(schema.properties ?? {}, segment));
    written += isField ? `${written === "" ? "" : "."}${String(segment)}` : `[${String(segment)}]`;
    schema = below(schema, segment);
  }
  return written.length <= LONGEST_PATH ? written : `${written.slice(0, LONGEST_PATH)}…`;
}
