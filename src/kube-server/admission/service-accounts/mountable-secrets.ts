/** Pods of an account with the annotation below may use only the secrets that the account lists. */
import type { KubeObject } from "#kube";
import { envSecrets, objectsAt, textAt } from "./pod-parts.ts";

const ENFORCE = "kubernetes.io/enforce-mountable-secrets";
/** The texts that Go's ParseBool reads as true. */
const TRUE: ReadonlySet<string> = new Set(["1", "t", "T", "TRUE", "true", "True"]);

export function secretProblem(account: KubeObject, pod: KubeObject): string | undefined {
  if (!isEnforced(account)) return undefined;
  return volumeProblem(account, pod) ?? envProblem(account, pod, CONTAINERS) ?? pullSecretProblem(account, pod);
}

export function debugSecretProblem(account: KubeObject, pod: KubeObject): string | undefined {
  return isEnforced(account) ? envProblem(account, pod, DEBUG_CONTAINERS) : undefined;
}

function isEnforced(account: KubeObject): boolean {
  return TRUE.has(textAt(account, "metadata", "annotations", ENFORCE));
}

function named(account: KubeObject, list: "secrets" | "imagePullSecrets"): ReadonlySet<string> {
  return new Set(objectsAt(account, list).map((secret) => textAt(secret, "name")));
}

function volumeProblem(account: KubeObject, pod: KubeObject): string | undefined {
  const allowed = named(account, "secrets");
  const volumes = objectsAt(pod, "spec", "volumes").filter((volume) => volume["secret"] !== undefined);
  const secret = volumes.map((volume) => textAt(volume, "secret", "secretName")).find((name) => !allowed.has(name));
  return secret === undefined ? undefined : `volume with secret.secretName="${secret}" ${notAllowed(account)}`;
}

function notAllowed(account: KubeObject): string {
  return `is not allowed because service account ${account.metadata.name} does not reference that secret`;
}

type Containers = readonly (readonly [list: string, called: string])[];
const CONTAINERS: Containers = [
  ["initContainers", "init container"],
  ["containers", "container"],
];
const DEBUG_CONTAINERS: Containers = [["ephemeralContainers", "ephemeral container"]];

function envProblem(account: KubeObject, pod: KubeObject, lists: Containers): string | undefined {
  const allowed = named(account, "secrets");
  for (const [list, called] of lists) {
    for (const container of objectsAt(pod, "spec", list)) {
      const wrong = envSecrets(container).find(({ secret }) => !allowed.has(secret));
      if (wrong === undefined) continue;
      const where = wrong.variable === undefined ? "envFrom" : `envVar ${wrong.variable}`;
      return `${called} ${textAt(container, "name")} with ${where} referencing secret.secretName="${wrong.secret}" ${notAllowed(account)}`;
    }
  }
  return undefined;
}

function pullSecretProblem(account: KubeObject, pod: KubeObject): string | undefined {
  const allowed = named(account, "imagePullSecrets");
  const names = objectsAt(pod, "spec", "imagePullSecrets").map((secret) => textAt(secret, "name"));
  const wrong = names.findIndex((name) => !allowed.has(name));
  if (wrong < 0) return undefined;
  const what = `imagePullSecrets[${wrong}].name="${names[wrong] ?? ""}"`;
  return `${what} is not allowed because service account ${account.metadata.name} does not reference that imagePullSecret`;
}
