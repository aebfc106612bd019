/** A CRD in a protected group of the Kubernetes project needs an annotation about its approval. */
import { fieldAt } from "#kube";
import { parseUrl } from "#cel";
import type { FieldCause } from "../../resource-type.ts";
import { invalid, required } from "../causes/causes.ts";
import { child, key } from "../causes/field-path.ts";
import type { Definition } from "./definition.ts";

const APPROVAL_ANNOTATION = "api-approved.kubernetes.io";
const PULL_REQUEST = "see https://github.com/kubernetes/enhancements/pull/1111";

export type Approval = { readonly state: "missing" | "bypassed" | "approved" | "invalid"; readonly reason: string };

/** Undefined for groups that need no approval. */
export function approvalOf(definition: Definition): Approval | undefined {
  if (!/(?:^|\.)(?:k8s|kubernetes)\.io$/.test(definition.group)) return undefined;
  const value = fieldAt(definition.metadata, "annotations", APPROVAL_ANNOTATION);
  const annotation = typeof value === "string" ? value : "";
  const must = `protected groups must have approval annotation "${APPROVAL_ANNOTATION}"`;
  if (annotation === "") return { state: "missing", reason: `${must}, ${PULL_REQUEST}` };
  if (annotation.startsWith("unapproved")) return { state: "bypassed", reason: `not approved: ${JSON.stringify(annotation)}` };
  const url = parseUrl(annotation, "request");
  if (url.ok && url.value.host !== "" && url.value.scheme !== "") return { state: "approved", reason: `approved in ${annotation}` };
  return { state: "invalid", reason: `${must} with either a URL or a reason starting with "unapproved", ${PULL_REQUEST}` };
}

export function approvalCauses(definition: Definition, old: Definition | undefined): readonly FieldCause[] {
  const approval = approvalOf(definition);
  const before = old === undefined ? undefined : approvalOf(old);
  if (approval === undefined || approval.state === before?.state) return [];
  const path = key(child("metadata", "annotations"), APPROVAL_ANNOTATION);
  if (approval.state === "missing") return [required(path, approval.reason)];
  return approval.state === "invalid"
    ? [invalid(path, fieldAt(definition.metadata, "annotations", APPROVAL_ANNOTATION), approval.reason)]
    : [];
}
