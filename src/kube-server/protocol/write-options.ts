/** Options of a write in the query string: `dryRun`, `fieldManager`, `fieldValidation`, `force`. Validated as on a real server. */
import { Buffer } from "node:buffer";
import { memoize, memoizeByObject, ok, type Result } from "#base";
import { goQuote } from "#kube";
import type { FieldCause } from "../resource-type.ts";
import { header, type ApiRequest } from "./request.ts";
import { isTrue } from "./request-info.ts";
import { invalid, type Failure } from "./status.ts";

export type FieldValidation = "Strict" | "Warn" | "Ignore";

export type WriteOptions = {
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly fieldValidation: FieldValidation;
  readonly force: boolean;
};

export type OptionsKind = "CreateOptions" | "UpdateOptions" | "PatchOptions";

const VALIDATIONS: ReadonlyMap<string, FieldValidation> = new Map([
  ["", "Warn"],
  ["Warn", "Warn"],
  ["Strict", "Strict"],
  ["Ignore", "Ignore"],
]);
const MAX_MANAGER = 128;

/** `apply`: a server-side apply, which must name its manager and may force. */
export function writeOptions(request: ApiRequest, kind: OptionsKind, apply = false): Result<WriteOptions, Failure> {
  const { query } = request;
  const { dryRun, manager, validation, force, causes: common } = parseWriteQuery(query);
  const own = kind === "PatchOptions" ? patchCauses({ apply, force, manager }) : [];
  if (own.length > 0 || common.length > 0) return invalid({ group: "meta.k8s.io", kind, name: "" }, [...own, ...common]);
  return ok({
    dryRun: dryRun.length > 0,
    fieldManager: manager === "" ? managerOfAgent(header(request, "user-agent")) : manager,
    fieldValidation: VALIDATIONS.get(validation) ?? "Warn",
    force: force !== null && isTrue(force),
  });
}

type WriteQuery = {
  readonly dryRun: readonly string[];
  readonly manager: string;
  readonly validation: string;
  readonly force: string | null;
  readonly causes: readonly FieldCause[];
};

/** Equal queries are mostly the same object: see `readQuery`. */
const parseWriteQuery = memoizeByObject((query: URLSearchParams): WriteQuery => {
  const dryRun = query.getAll("dryRun");
  const manager = query.get("fieldManager") ?? "";
  const validation = query.get("fieldValidation") ?? "";
  const causes = [...managerCauses(manager), ...dryRunCauses(dryRun), ...validationCauses(validation)];
  return { dryRun, manager, validation, force: query.get("force"), causes };
});

function patchCauses(given: { readonly apply: boolean; readonly force: string | null; readonly manager: string }): readonly FieldCause[] {
  if (given.apply) {
    return given.manager === ""
      ? [{ reason: "FieldValueRequired", field: "fieldManager", detail: "Required value: is required for apply patch" }]
      : [];
  }
  if (given.force === null) return [];
  return [{ reason: "FieldValueForbidden", field: "force", detail: "Forbidden: may not be specified for non-apply patch" }];
}

export function dryRunCauses(dryRun: readonly string[]): readonly FieldCause[] {
  if (dryRun.every((value) => value === "All")) return [];
  const detail = `Unsupported value: ${JSON.stringify(dryRun)}: supported values: "All"`;
  return [{ reason: "FieldValueNotSupported", field: "dryRun", detail }];
}

function validationCauses(validation: string): readonly FieldCause[] {
  if (VALIDATIONS.has(validation)) return [];
  const detail = `Unsupported value: ${JSON.stringify(validation)}: supported values: "", "Ignore", "Strict", "Warn"`;
  return [{ reason: "FieldValueNotSupported", field: "fieldValidation", detail }];
}

const PLAIN_MANAGER = /^[ -~]{0,128}$/;

function managerCauses(manager: string): readonly FieldCause[] {
  if (PLAIN_MANAGER.test(manager)) return [];
  if (new TextEncoder().encode(manager).byteLength > MAX_MANAGER) {
    return [{ reason: "FieldValueTooLong", field: "fieldManager", detail: `Too long: may not be more than ${MAX_MANAGER} bytes` }];
  }
  const causes: FieldCause[] = [];
  let at = 0;
  for (const character of manager) {
    const code = (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0");
    const detail = `Invalid value: ${goQuote(manager)}: invalid character U+${code} (at position ${at})`;
    if (!isPrintable(character)) causes.push({ reason: "FieldValueInvalid", field: "fieldManager", detail });
    at += Buffer.byteLength(character);
  }
  return causes;
}

/** Go's unicode.IsPrint: letters, marks, numbers, punctuation, symbols, and the ASCII space. */
function isPrintable(character: string): boolean {
  return character === " " || /^[\p{L}\p{M}\p{N}\p{P}\p{S}]$/u.test(character);
}

/** Default of fieldManager: the user agent up to its first slash. */
const managerOfAgent = memoize({ limit: 200 }, (agent: string): string => {
  const name = Array.from(agent.split("/")[0] ?? "")
    .filter(isPrintable)
    .join("");
  const bytes = new TextEncoder().encode(name);
  return bytes.byteLength <= MAX_MANAGER ? name : new TextDecoder().decode(bytes.slice(0, MAX_MANAGER));
});
