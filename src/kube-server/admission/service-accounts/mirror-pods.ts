/** A mirror pod represents a pod that a kubelet runs from a file. It may not use API objects such as secrets and accounts. */
import { fieldAt, isJsonObject, type KubeObject } from "#kube";
import { envSecrets, objectsAt, textAt } from "./pod-parts.ts";

export function mirrorPodProblem(pod: KubeObject): string | undefined {
  if (textAt(pod, "spec", "serviceAccountName") !== "") return "a mirror pod may not reference service accounts";
  if (usesSecrets(pod)) return "a mirror pod may not reference secrets";
  const projections = objectsAt(pod, "spec", "volumes").flatMap((volume) => objectsAt(volume, "projected", "sources"));
  const usesTokens = projections.some((source) => isJsonObject(source["serviceAccountToken"]));
  return usesTokens ? "a mirror pod may not use ServiceAccountToken volume projections" : undefined;
}

/** The fields in which volumes name a secret: a reference or a plain name. */
const REFERENCES = [
  ["cephfs", "secretRef"],
  ["cinder", "secretRef"],
  ["flexVolume", "secretRef"],
  ["rbd", "secretRef"],
  ["scaleIO", "secretRef"],
  ["iscsi", "secretRef"],
  ["storageos", "secretRef"],
  ["csi", "nodePublishSecretRef"],
] as const;
const NAMES = [
  ["azureFile", "secretName"],
  ["secret", "secretName"],
] as const;

function usesSecrets(pod: KubeObject): boolean {
  const containers = ["initContainers", "containers", "ephemeralContainers"].flatMap((list) => objectsAt(pod, "spec", list));
  if (objectsAt(pod, "spec", "imagePullSecrets").length > 0 || containers.some((container) => envSecrets(container).length > 0))
    return true;
  return objectsAt(pod, "spec", "volumes").some(
    (volume) =>
      REFERENCES.some((path) => isJsonObject(fieldAt(volume, ...path))) ||
      NAMES.some((path) => textAt(volume, ...path) !== "") ||
      objectsAt(volume, "projected", "sources").some((source) => isJsonObject(source["secret"])),
  );
}
