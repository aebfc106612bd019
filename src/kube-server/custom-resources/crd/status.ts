/**
 * The conditions that the server itself sets on a CRD: accepted names, established, terminating.
 *
 * Within a group no two CRDs may share a plural, singular, short name, kind or list kind; the first CRD keeps the name.
 */
import { field, fieldAt, setCondition, type Condition, type JsonObject, type NewCondition } from "#kube";
import { approvalOf } from "./approval.ts";
import { readDefinition, type CrdNames, type Definition } from "./definition.ts";
import { asObject } from "./json-access.ts";

export const CLEANUP_FINALIZER = "customresourcecleanup.apiextensions.k8s.io";

type Conflict = { readonly reason: string; readonly message: string };

/** The first clash of each kind with names that other CRDs of the group hold; the last one counts, as on a real server. */
function checkNames(
  definition: Definition,
  others: readonly Definition[],
): { readonly names: CrdNames; readonly conflict: Conflict | undefined } {
  const groupMembers = others.filter(
    (other) => other.group === definition.group && field(other.metadata, "name") !== field(definition.metadata, "name"),
  );
  const resources = new Set(
    groupMembers.flatMap(({ acceptedNames: names }) => [names.plural, names.singular, ...names.shortNames]).filter((name) => name !== ""),
  );
  const kinds = new Set(groupMembers.flatMap(({ acceptedNames: names }) => [names.kind, names.listKind]).filter((name) => name !== ""));
  const { names: wanted, acceptedNames: held } = definition;
  let names: CrdNames = { ...held, categories: wanted.categories };
  let conflict: Conflict | undefined;
  const claim = (name: "plural" | "singular" | "kind" | "listKind", taken: ReadonlySet<string>, reason: string): void => {
    if (wanted[name] === held[name] || !taken.has(wanted[name])) names = { ...names, [name]: wanted[name] };
    else conflict = { reason, message: `"${wanted[name]}" is already in use` };
  };
  claim("plural", resources, "PluralConflict");
  claim("singular", resources, "SingularConflict");
  const clashes = wanted.shortNames
    .filter((name) => !held.shortNames.includes(name) && resources.has(name))
    .map((name) => `"${name}" is already in use`);
  if (clashes.length === 0) names = { ...names, shortNames: wanted.shortNames };
  else conflict = { reason: "ShortNamesConflict", message: clashes.length === 1 ? (clashes[0] ?? "") : `[${clashes.join(", ")}]` };
  claim("kind", kinds, "KindConflict");
  claim("listKind", kinds, "ListKindConflict");
  return { names, conflict };
}

/** The CRD with its names accepted or refused, and established if they were accepted. */
export function establish(crd: JsonObject, others: readonly Definition[], now: string): JsonObject {
  const definition = readDefinition(crd);
  const { names, conflict } = checkNames(definition, others);
  const accepted: NewCondition =
    conflict === undefined
      ? { type: "NamesAccepted", status: "True", reason: "NoConflicts", message: "no conflicts found" }
      : { type: "NamesAccepted", status: "False", ...conflict };
  const established: NewCondition = {
    type: "Established",
    status: "True",
    reason: "InitialNamesAccepted",
    message: "the initial names have been accepted",
  };
  const waiting: NewCondition = { type: "Established", status: "False", reason: "NotAccepted", message: "not all names are accepted" };
  const wasEstablished = conditionsOf(crd).some((condition) => condition.type === "Established" && condition.status === "True");
  const next: readonly NewCondition[] = [
    accepted,
    ...(wasEstablished ? [] : [conflict === undefined ? established : waiting]),
    ...approvalCondition(definition),
  ];
  return withStatus(crd, {
    acceptedNames: namesJson(names),
    conditions: [...next.reduce((all, one) => setCondition(all, one, now), conditionsOf(crd))],
  });
}

function approvalCondition(definition: Definition): readonly NewCondition[] {
  const approval = approvalOf(definition);
  const type = "KubernetesAPIApprovalPolicyConformant";
  if (approval?.state === "approved") return [{ type, status: "True", reason: "ApprovedAnnotation", message: approval.reason }];
  return approval?.state === "bypassed" ? [{ type, status: "False", reason: "UnapprovedAnnotation", message: approval.reason }] : [];
}

/** A CRD that is being deleted: its objects are deleted first. */
export function terminating(crd: JsonObject, now: string): JsonObject {
  const message = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon";
  return withTerminating(crd, { reason: "InstanceDeletionPending", message }, now);
}

/** Its objects are marked for deletion, and some of them have finalizers. */
export function sweeping(crd: JsonObject, now: string): JsonObject {
  return withTerminating(crd, { reason: "InstanceDeletionInProgress", message: "CustomResource deletion is in progress" }, now);
}

function withTerminating(crd: JsonObject, why: Pick<NewCondition, "reason" | "message">, now: string): JsonObject {
  const condition: NewCondition = { type: "Terminating", status: "True", ...why };
  return withStatus(crd, { conditions: [...setCondition(conditionsOf(crd), condition, now)] });
}

function conditionsOf(crd: JsonObject): readonly Condition[] {
  const conditions = fieldAt(crd, "status", "conditions");
  return Array.isArray(conditions) ? conditions : [];
}

function withStatus(crd: JsonObject, changes: JsonObject): JsonObject {
  return { ...crd, status: { ...asObject(field(crd, "status")), ...changes } };
}

/** As the server writes them: empty fields are omitted, except plural and kind. */
function namesJson(names: CrdNames): JsonObject {
  return {
    plural: names.plural,
    ...(names.singular === "" ? {} : { singular: names.singular }),
    ...(names.shortNames.length === 0 ? {} : { shortNames: [...names.shortNames] }),
    kind: names.kind,
    ...(names.listKind === "" ? {} : { listKind: names.listKind }),
    ...(names.categories.length === 0 ? {} : { categories: [...names.categories] }),
  };
}
