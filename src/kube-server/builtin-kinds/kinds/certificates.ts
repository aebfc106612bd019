/**
 * CertificateSigningRequest: fixed from its creation on, but for what its approvers and signers write.
 *
 * Its bytes are looked at as far as the frame of a request goes; the signature is not checked here.
 */
import { fromThrowing, repeats } from "#base";
import { jsonEqual, type JsonObject, type KubeObject } from "#kube";
import { readChildren, readElement } from "#pki";
import { signingRequestCells } from "../cells/others.ts";
import { at, carryField, childOf, type Draft, numberAt, objectAt, objectsAt, textAt, textsAt } from "../draft.ts";
import type { KindRules, RulesByKind } from "../kind-rules.ts";
import { type Causes, duplicate, forbidden, invalid, invalidEach, notSupported, required } from "../rules/causes.ts";
import { dnsSubdomain } from "../rules/formats.ts";

const USAGES =
  "any|cert sign|client auth|code signing|content commitment|crl sign|data encipherment|decipher only|digital signature|email protection|encipher only|ipsec end system|ipsec tunnel|ipsec user|key agreement|key encipherment|microsoft sgc|netscape sgc|ocsp signing|s/mime|server auth|signing|timestamping".split(
    "|",
  );
const DECISIONS = ["Approved", "Denied"];

const signingRequest: KindRules = {
  name: () => [],
  onUpdate: "meta-and-spec-first",
  onStatus: "all",
  prepareUpdate: (draft, previous) => carryField(draft, { spec: at(previous, "spec") }, "spec"),
  validate: validateRequest,
  prepareStatus: (draft, previous, now) => {
    const conditions = datedConditions(draft, previous, now);
    if (conditions.length > 0) childOf(draft, "status")["conditions"] = keepDecisions(conditions, previous);
  },
  validateStatus: (next, previous) => [
    ...validateConditions(next),
    ...validateCertificate(next),
    ...validateKept(next, previous),
    ...validateDecisions(next, previous),
    ...validateReissue(next, previous),
  ],
  views: {
    approval: {
      prepare: (draft, previous, now) => {
        const conditions = datedConditions(draft, previous, now);
        draft["spec"] = at(previous, "spec");
        const { conditions: _replaced, ...status } = objectAt(previous, "status") ?? {};
        draft["status"] = conditions.length > 0 ? { ...status, conditions } : status;
      },
      validate: (next, previous) => [...validateConditions(next), ...validateKept(next, previous)],
    },
  },
  fieldSelectors: { "spec.signerName": (object) => textAt(object, "spec", "signerName") },
  cells: signingRequestCells,
};

/** The time of a decision is optional. An unchanged decision keeps its time. */
function datedConditions(draft: Draft, previous: KubeObject, now: string | undefined): JsonObject[] {
  const known = objectsAt(previous, "status", "conditions");
  return objectsAt(draft, "status", "conditions").map((condition) => {
    if (now === undefined) return condition;
    const same = known.find((old) => old["type"] === condition["type"] && old["status"] === condition["status"]);
    return {
      ...condition,
      lastUpdateTime: at(condition, "lastUpdateTime") ?? now,
      lastTransitionTime: at(condition, "lastTransitionTime") ?? at(same, "lastTransitionTime") ?? now,
    };
  });
}

/** Conditions that the approval subresource wrote are kept here, unless one is added or removed: then validation refuses. */
function keepDecisions(conditions: JsonObject[], previous: KubeObject): JsonObject[] {
  const known = objectsAt(previous, "status", "conditions");
  return DECISIONS.reduce((all, type) => {
    const [before, now] = [known, all].map((list) => list.filter((one) => one["type"] === type)) as [JsonObject[], JsonObject[]];
    return before.length === now.length ? all.map((one) => before[now.indexOf(one)] ?? one) : all;
  }, conditions);
}

function validateRequest(object: KubeObject): Causes {
  const usages = textsAt(object, "spec", "usages");
  const stoodBefore = repeats(usages);
  const path = (index: number) => `spec.usages[${index}]`;
  const seconds = numberAt(object, "spec", "expirationSeconds");
  const problem = problemOf(textAt(object, "spec", "request"));
  return [
    ...(problem === undefined ? [] : [invalid("spec.request", textAt(object, "spec", "request") || null, problem)]),
    ...(usages.length === 0 ? [required("spec.usages")] : []),
    ...usages.flatMap((usage, index) => (USAGES.includes(usage) ? [] : [notSupported(path(index), usage, USAGES)])),
    ...usages.flatMap((usage, index) => (stoodBefore(usage, index) ? [duplicate(path(index), usage)] : [])),
    ...validateSigner(textAt(object, "spec", "signerName")),
    ...(seconds !== undefined && seconds < 600
      ? [invalid("spec.expirationSeconds", seconds, "may not specify a duration less than 600 seconds (10 minutes)")]
      : []),
  ];
}

const LEGACY = "kubernetes.io/legacy-unknown";

function validateSigner(name: string): Causes {
  const path = "spec.signerName";
  if (name === "") return [required(path)];
  if (name === LEGACY) return [invalid(path, name, "the legacy signerName is not allowed via this API version")];
  const [domain = "", ...rest] = name.split("/");
  if (rest.length !== 1) return [invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")];
  return invalidEach(path, name, dnsSubdomain(domain));
}

/** What Go's parser says of bytes that are no request; undefined when they may be one. */
function problemOf(request: string): string | undefined {
  const pem = fromThrowing(
    () => atob(request),
    () => undefined,
  );
  const block = pem.ok
    ? /-----BEGIN CERTIFICATE REQUEST-----\n([A-Za-z0-9+/=\s]*)-----END CERTIFICATE REQUEST-----/.exec(pem.value)?.[1]
    : undefined;
  const bytes =
    block === undefined
      ? undefined
      : fromThrowing(
          () => atob(block.replaceAll(/\s/g, "")),
          () => undefined,
        );
  if (bytes === undefined || !bytes.ok) return "PEM block type must be CERTIFICATE REQUEST";
  const outer = readElement(Uint8Array.from(bytes.value, (byte) => byte.charCodeAt(0)));
  if (!outer.ok) return "asn1: syntax error: sequence truncated";
  const parts = readChildren(outer.value.content);
  return outer.value.tag === 0x30 && parts.ok && parts.value.length === 3 ? undefined : "asn1: structure error: tags don't match";
}

function validateConditions(next: KubeObject): Causes {
  const conditions = objectsAt(next, "status", "conditions");
  const stoodBefore = repeats(conditions.map((condition) => textAt(condition, "type")));
  return conditions.flatMap((condition, index) => {
    const path = `status.conditions[${index}]`;
    const [type, status] = [textAt(condition, "type"), textAt(condition, "status")];
    const allowed = [...DECISIONS, "Failed"].includes(type) ? ["True"] : ["False", "True", "Unknown"];
    const other = DECISIONS.find((decision) => decision !== type && DECISIONS.includes(type));
    const contradicts = other !== undefined && stoodBefore(other, index);
    return [
      ...(type === "" ? [required(`${path}.type`)] : []),
      ...(status === "" ? [required(`${path}.status`)] : allowed.includes(status) ? [] : [notSupported(`${path}.status`, status, allowed)]),
      ...(contradicts ? [invalid("status.conditions", type, "Approved and Denied conditions are mutually exclusive")] : []),
      ...(stoodBefore(type, index) ? [duplicate(`${path}.type`, type)] : []),
    ];
  });
}

const ofType = (object: KubeObject, type: string) =>
  objectsAt(object, "status", "conditions").filter((one: JsonObject) => textAt(one, "type") === type);

/** A decision cannot be changed. */
function validateKept(next: KubeObject, previous: KubeObject): Causes {
  const lost = [...DECISIONS, "Failed"].filter((type) => ofType(next, type).length < ofType(previous, type).length);
  return lost.map((type) => forbidden("status.conditions", `updates may not remove a condition of type "${type}"`));
}

function validateCertificate(next: KubeObject): Causes {
  const given = textAt(next, "status", "certificate");
  if (given === "" || /-----BEGIN CERTIFICATE-----/.test(atob(given))) return [];
  return [invalid("status.certificate", "<certificate data>", "must contain at least one CERTIFICATE PEM block")];
}

function validateReissue(next: KubeObject, previous: KubeObject): Causes {
  const [now, before] = [next, previous].map((object) => textAt(object, "status", "certificate")) as [string, string];
  return before === "" || now === before ? [] : [forbidden("status.certificate", "updates may not modify existing certificate content")];
}

/** Decisions are made through the approval subresource. */
function validateDecisions(next: KubeObject, previous: KubeObject): Causes {
  return DECISIONS.flatMap((type) => {
    const [now, before] = [ofType(next, type), ofType(previous, type)];
    if (now.length < before.length || jsonEqual(now, before)) return [];
    const what = now.length > before.length ? "add" : "modify";
    return [forbidden("status.conditions", `updates may not ${what} a condition of type "${type}"`)];
  });
}

export const certificateKinds: RulesByKind = { CertificateSigningRequest: signingRequest };
