/** Who decides on a certificate, or signs it, may do so for its signer: being let through the door of the subresource is not enough. */
import { ok } from "#base";
import { fieldAt, jsonEqual, type KubeObject } from "#kube";
import type { Access } from "../../protocol/auth-port.ts";
import { forbid } from "../forbid.ts";
import type { AdmissionContext, AdmissionPlugin, Attributes } from "../../protocol/admission-port.ts";

export function certificateApproval(context: AdmissionContext): AdmissionPlugin {
  return { name: "CertificateApproval", validate: (attributes) => judge(context, attributes, "approval") };
}

export function certificateSigning(context: AdmissionContext): AdmissionPlugin {
  return { name: "CertificateSigning", validate: (attributes) => judge(context, attributes, "status") };
}

function judge({ authorize }: AdmissionContext, attributes: Attributes, door: "approval" | "status") {
  const { type, operation, subresource, object, old, user } = attributes;
  const isOurs = type.collection === "certificates.k8s.io/certificatesigningrequests" && subresource === door;
  if (!isOurs || operation !== "UPDATE") return ok(undefined);
  if (door === "status" && jsonEqual(signed(object), signed(old))) return ok(undefined);
  const given = fieldAt(old, "spec", "signerName");
  const signer = typeof given === "string" ? given : "";
  const verb = door === "approval" ? "approve" : "sign";
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
