/**
 * The schema of `metadata`. A CRD may restrict only the name, so only that part is in the CRD, and only for kinds whose names must be
 * stricter than Kubernetes requires.
 */
import * as z from "zod";
import { NAME_RULES, type ObjectMeta } from "#kube";
import { labelKeys, mapOf } from "./collections.ts";
import { described } from "./described.ts";
import { dnsLabel, dnsSubdomain, labelValue } from "./fields.ts";
import { celPattern, withRules } from "./rules.ts";

export type NameRule = {
  readonly pattern: string;
  readonly max: number;
  readonly message: string;
};

/** The name is used as a label value or namespace, or as a part of one. */
export function nameAsLabel(max: number, because: string): NameRule {
  const { what, pattern, advice } = NAME_RULES.dnsLabel;
  return { pattern, max, message: `must be ${what} of at most ${max} characters (${advice}), because ${because}` };
}

/** The name is used as the name of a Service. */
export function nameAsService(because: string): NameRule {
  const { what, pattern, advice, max } = NAME_RULES.serviceName;
  return { pattern, max, message: `must be ${what} of at most ${max} characters (${advice}), because ${because}` };
}

export function nameSchema(rule: NameRule | undefined) {
  const description = "Name of the object; it cannot be changed.";
  if (rule === undefined) return dnsSubdomain(description);
  const pattern = new RegExp(rule.pattern);
  return withRules(described(z.string().check(z.maxLength(rule.max)), description), [
    { cel: `self.matches(${celPattern(rule.pattern)})`, message: rule.message, holds: (name) => pattern.test(name) },
  ]);
}

export function metadataSchema(rule: NameRule | undefined, namespaced: boolean): z.ZodType<ObjectMeta> {
  const shape = z.strictObject({
    name: nameSchema(rule),
    namespace: namespaced ? dnsLabel("Namespace of the object.").optional() : notNamespaced().optional(),
    generateName: z.string().optional(),
    labels: mapOf("Labels, to select by.", labelValue("Value."), { max: 1_024, keys: labelKeys }).optional(),
    annotations: mapOf("Notes for people and tools.", described(z.string(), "Value."), { max: 1_024, keys: labelKeys }).optional(),
    finalizers: z.array(z.string()).optional(),
    ownerReferences: z.array(ownerReference()).optional(),
    uid: z.string().optional(),
    resourceVersion: z.string().optional(),
    generation: z.int().optional(),
    creationTimestamp: z.string().optional(),
    deletionTimestamp: z.string().optional(),
    deletionGracePeriodSeconds: z.int().optional(),
    selfLink: z.string().optional(),
    managedFields: z.array(anyRecord()).optional(),
  });
  // ObjectMeta has exact optional fields; `normalise` has removed every undefined
  return described(shape, "Standard object metadata.") as unknown as z.ZodType<ObjectMeta>;
}

function anyRecord() {
  return described(z.record(z.string(), z.unknown()), { "x-kubernetes-preserve-unknown-fields": true });
}

const notNamespaced = () =>
  z
    .string()
    .superRefine((_, context) =>
      context.addIssue({ code: "custom", message: "the kind is cluster-scoped and has no namespace; remove it" }),
    )
    .describe("Not for this kind: it is cluster-scoped.");

const ownerReference = () =>
  z.strictObject({
    apiVersion: z.string(),
    kind: z.string(),
    name: z.string(),
    uid: z.string(),
    controller: z.boolean().optional(),
    blockOwnerDeletion: z.boolean().optional(),
  });
