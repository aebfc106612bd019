/**
 * ServiceAccount: every pod runs as a ServiceAccount. A pod that names none runs as "default", and gets a token of its account.
 *
 * A controller creates the account "default" shortly after its namespace; an earlier pod waits for it, for a second or two.
 */
import { ok, whenThere, type Later, type Result } from "#base";
import { field, fieldAt, type KubeObject } from "#kube";
import { withSpec } from "../built-in/change.ts";
import { forbid } from "../forbid.ts";
import type { AdmissionContext, AdmissionPlugin, Attributes } from "../../protocol/admission-port.ts";
import type { Failure } from "../../protocol/status.ts";
import { findAccount } from "./find-account.ts";
import { mirrorPodProblem } from "./mirror-pods.ts";
import { debugSecretProblem, secretProblem } from "./mountable-secrets.ts";
import { withToken } from "./token-volume.ts";

const DEFAULT_ACCOUNT = "default";
const MIRROR_ANNOTATION = "kubernetes.io/config.mirror";

export function serviceAccounts(context: AdmissionContext): AdmissionPlugin {
  return {
    name: "ServiceAccount",
    mutate: (attributes) => {
      const pod = newPod(attributes);
      if (pod === undefined) return ok(attributes.object);
      if (isMirror(pod)) return whenThere(validateNew(context, attributes, pod), (valid) => (valid.ok ? ok(pod) : valid));
      return equip(context, attributes, pod);
    },
    validate: (attributes) => {
      const pod = newPod(attributes);
      if (pod !== undefined) return validateNew(context, attributes, pod);
      const debugged = debuggedPod(attributes);
      return debugged === undefined ? ok(undefined) : validateDebugged(context, attributes, debugged);
    },
  };
}

function newPod({ type, operation, subresource, object }: Attributes): KubeObject | undefined {
  return type.collection === "/pods" && operation === "CREATE" && subresource === undefined ? object : undefined;
}

function debuggedPod({ type, operation, subresource, object }: Attributes): KubeObject | undefined {
  return type.collection === "/pods" && operation === "UPDATE" && subresource === "ephemeralcontainers" ? object : undefined;
}

/** The kubelet's API object for a pod that it runs from a file; nothing may be added to it. */
function isMirror(pod: KubeObject): boolean {
  return fieldAt(pod, "metadata", "annotations", MIRROR_ANNOTATION) !== undefined;
}

function accountNameOf(pod: KubeObject): string {
  const name = fieldAt(pod, "spec", "serviceAccountName");
  return typeof name === "string" ? name : "";
}

function equip(context: AdmissionContext, attributes: Attributes, pod: KubeObject): Later<Result<KubeObject, Failure>> {
  const given = accountNameOf(pod);
  const name = given === "" ? DEFAULT_ACCOUNT : given;
  const named = given === "" ? withSpec(pod, { serviceAccountName: name, serviceAccount: name }) : pod;
  return whenThere(accountOf(context, attributes, name), (account) => {
    if (!account.ok) return account;
    const mounted = wantsToken(account.value, named) ? withToken(named, context.random) : named;
    const equipped = withPullSecrets(mounted, account.value);
    const problem = secretProblem(account.value, equipped);
    return problem === undefined ? ok(equipped) : forbid({ ...attributes, object: equipped }, problem);
  });
}

function accountOf(context: AdmissionContext, attributes: Attributes, name: string): Later<Result<KubeObject, Failure>> {
  const namespace = attributes.namespace ?? "";
  const patient = name === DEFAULT_ACCOUNT;
  return whenThere(findAccount(context, { namespace, name, patient }), (account) => {
    if (account !== undefined) return ok(account);
    return forbid(attributes, `error looking up service account ${namespace}/${name}: serviceaccount "${name}" not found`);
  });
}

/** The pod's setting counts, then the account's. */
function wantsToken(account: KubeObject, pod: KubeObject): boolean {
  return (fieldAt(pod, "spec", "automountServiceAccountToken") ?? field(account, "automountServiceAccountToken") ?? true) === true;
}

function withPullSecrets(pod: KubeObject, account: KubeObject): KubeObject {
  const own = fieldAt(pod, "spec", "imagePullSecrets");
  const given = field(account, "imagePullSecrets");
  if ((Array.isArray(own) && own.length > 0) || !Array.isArray(given) || given.length === 0) return pod;
  return withSpec(pod, { imagePullSecrets: given.map((secret) => ({ name: field(secret, "name") ?? "" })) });
}

function validateNew(context: AdmissionContext, attributes: Attributes, pod: KubeObject): Later<Result<undefined, Failure>> {
  if (isMirror(pod)) {
    const problem = mirrorPodProblem(pod);
    return problem === undefined ? ok(undefined) : forbid(attributes, problem);
  }
  return validateSecrets(context, attributes, { pod, problemOf: secretProblem });
}

function validateDebugged(context: AdmissionContext, attributes: Attributes, pod: KubeObject): Later<Result<undefined, Failure>> {
  return validateSecrets(context, attributes, { pod, problemOf: debugSecretProblem });
}

type Secrets = { readonly pod: KubeObject; readonly problemOf: (account: KubeObject, pod: KubeObject) => string | undefined };

function validateSecrets(
  context: AdmissionContext,
  attributes: Attributes,
  { pod, problemOf }: Secrets,
): Later<Result<undefined, Failure>> {
  const name = accountNameOf(pod);
  if (name === "")
    return forbid(attributes, `no service account specified for pod ${attributes.namespace ?? ""}/${pod.metadata.name ?? ""}`);
  return whenThere(accountOf(context, attributes, name), (account) => {
    if (!account.ok) return account;
    const problem = problemOf(account.value, pod);
    return problem === undefined ? ok(undefined) : forbid(attributes, problem);
  });
}
