/** The version, the node image that carries it, and the version that runs now. */
import type { LatticeCluster } from "#crds";
import { fieldAt, type KubeObject } from "#kube";
import type { ClusterSpecError } from "../errors.ts";
import type { ClusterSettingsInput } from "../input.ts";
import { checkSupported, checkVersionChange, parseKubernetesVersion } from "../versions.ts";

export function checkVersion({ spec: { provider } }: LatticeCluster, { existing }: ClusterSettingsInput): readonly ClusterSpecError[] {
  const wanted = parseKubernetesVersion(provider.kubernetes.version);
  // the caller reports a version that cannot be parsed
  if (!wanted.ok) return [];
  return [
    ...checkSupported(wanted.value),
    ...checkChange(wanted.value.text, existing?.controlPlane),
    ...checkImage(provider.docker?.image, wanted.value.text),
  ];
}

/** `status.version` is that of the oldest machine: during a rollout it is older than the one of the spec. */
function checkChange(wanted: string, controlPlane: KubeObject | undefined): readonly ClusterSpecError[] {
  const running = [fieldAt(controlPlane, "spec", "version"), fieldAt(controlPlane, "status", "version")];
  const changes = running.flatMap((version) => (typeof version === "string" ? [checkVersionChange(version, wanted)] : []));
  const refused = changes.find(({ ok }) => !ok);
  return refused?.ok === false ? [refused.error] : [];
}

/** `registry:5000/kindest/node:v1.36.3@sha256:…` has the tag `v1.36.3`. A tag that is no version is not compared. */
function checkImage(image: string | undefined, version: string): readonly ClusterSpecError[] {
  const tag = /:([^/:@]+)(?:@|$)/.exec(image?.replace(/@.*$/, "") ?? "")?.[1];
  const carried = tag === undefined ? undefined : parseKubernetesVersion(tag);
  const plain = version.replace(/\+.*$/, "");
  if (carried?.ok !== true || carried.value.text === plain) return [];
  const message = `carries ${carried.value.text}, and kubernetes.version is ${version}; name an image of that version`;
  return [{ reason: "ImageVersionDiffers", path: "spec.provider.docker.image", message }];
}
