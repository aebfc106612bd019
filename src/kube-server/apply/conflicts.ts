/** Conflicts as data, and the messages of a real server: the causes of a 409 and its message. */
import { goCompareText, goQuote } from "#kube";
import { has, pathsOf, type FieldSet } from "./field-set.ts";
import { managerInfo, type ManagerId } from "./managers.ts";
import { storedPathText, type FieldPath } from "./path-element.ts";

/** One field that another manager owns with another value. */
export type OwnedField = { readonly owner: ManagerId; readonly path: FieldPath };

export type Conflict = {
  readonly manager: string;
  readonly operation: "Apply" | "Update";
  readonly apiVersion?: string;
  readonly subresource?: string;
  /** `.spec.replicas`: the `field` of the Status cause. */
  readonly fieldPath: string;
  /** `conflict with "kubectl" using v1`: the `message` of the Status cause; its reason is FieldManagerConflict. */
  readonly message: string;
};

export function conflictsOf(owned: ReadonlyMap<ManagerId, FieldSet>): OwnedField[] {
  const owners = [...owned.keys()].toSorted(goCompareText);
  return owners.flatMap((owner) => Array.from(pathsOf(owned.get(owner) ?? new Map()), (path) => ({ owner, path })));
}

export function conflictsOutside(conflicts: readonly OwnedField[], allowed: FieldSet): OwnedField[] {
  return conflicts.filter(({ path }) => !has(allowed, path));
}

export function describeConflict({ owner, path }: OwnedField): Conflict {
  const { manager = "", ...info } = managerInfo(owner);
  return { manager, ...info, fieldPath: storedPathText(path), message: `conflict with ${ownerText(owner)}` };
}

/** Further conflicts are only counted. */
export const MAX_DESCRIBED = 1_000;

/** `conflicts` must not be empty, and come grouped by owner as `conflictsOf` gives them. */
export function conflictMessage(conflicts: readonly OwnedField[]): string {
  const [only, ...more] = conflicts;
  if (only !== undefined && more.length === 0)
    return `Apply failed with 1 conflict: conflict with ${ownerText(only.owner)}: ${storedPathText(only.path)}`;
  const byOwner = Map.groupBy(conflicts.slice(0, MAX_DESCRIBED), ({ owner }) => owner);
  const lines = [...byOwner].flatMap(([owner, fields]) => [
    `conflicts with ${ownerText(owner)}:`,
    ...fields.map(({ path }) => `- ${storedPathText(path)}`),
  ]);
  if (conflicts.length > MAX_DESCRIBED) lines.push(`and ${conflicts.length - MAX_DESCRIBED} more`);
  return `Apply failed with ${conflicts.length} conflicts: ${lines.join("\n")}`;
}

function ownerText(owner: ManagerId): string {
  const { manager = "", operation, apiVersion = "", subresource } = managerInfo(owner);
  const name = subresource === undefined ? goQuote(manager) : `${goQuote(manager)} with subresource ${goQuote(subresource)}`;
  return operation === "Update" ? `${name} using ${apiVersion}` : name;
}
