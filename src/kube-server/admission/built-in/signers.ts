/** Approving or signing a certificate needs permission for its signer, in addition to permission for the subresource. */
import { ok } from "#base";
import { fieldAt, jsonEqual, type KubeObject } from "#kube";
import type { Access } from "../../protocol/auth-port.ts";
import { forbid } from "../forbid.ts";
import type { AdmissionContext, AdmissionPlugin, Attributes } from "../../protocol/admission-port.ts";

export function certificateApproval(context: AdmissionContext): AdmissionPlugin {
  return { name: "CertificateApproval", validate: (attributes) => checkSigner(context, attributes, "approval") };
}

export function certificateSigning(context: AdmissionContext): AdmissionPlugin {
  return { name: "CertificateSigning", validate: (attributes) => checkSigner(context, attributes, "status") };
}

function checkSigner({ authorize }: AdmissionContext, attributes: Attributes, expected: "approval" | "status") {
  const { type, operation, subresource, object, old, user } = attributes;
  const isOurs = type.collection === "certificates.k8s.io/certificatesigningrequests" && subresource === expected;
  if (!isOurs || operation !== "UPDATE") return ok(undefined);
  if (expected === "status" && jsonEqual(signed(object), signed(old))) return ok(undefined);
  const given = fieldAt(old, "spec", "signerName");
  const signer = typeof given === "string" ? given : "";
  const verb = expected === "approval" ? "approve" : "sign";
  const may = [signer, `${signer.split("/")[0]}/*`].some((name) => authorize(user, access(verb, name)).allowed);
  return may ? ok(undefined) : forbid(attributes, `user not permitted to ${verb} requests with signerName ${JSON.stringify(signer)}`);
}

const signed = (request: KubeObject | undefined) => [
  fieldAt(request, "status", "certificate") ?? null,
  fieldAt(request, "status", "conditions") ?? null,
];

function access(verb: string, name: string): Access {
  const [group, version, resource] = ["certificates.k8s.io", "*", "signers"];
  return { kind: "resource", verb, group, version, resource, subresource: undefined, namespace: undefined, name };
}
