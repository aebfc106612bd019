/** The volume with a token for the API server, its CA and the pod's namespace, and a mount of it in every container without one. */
import { field, fieldAt, isJsonObject, type Json, type JsonObject, type KubeObject } from "#kube";
import { generateName } from "../../protocol/core.ts";
import { withSpec } from "../built-in/change.ts";
import { textAt } from "./pod-parts.ts";

const VOLUME_PREFIX = "kube-api-access-";
const MOUNT_PATH = "/var/run/secrets/kubernetes.io/serviceaccount";
/** An hour and seven seconds: this exact value marks the tokens of automatic volumes; the server warns about an expired one before it refuses it. */
const TOKEN_SECONDS = 3_607;

const SOURCE: JsonObject = {
  sources: [
    { serviceAccountToken: { expirationSeconds: TOKEN_SECONDS, path: "token" } },
    { configMap: { name: "kube-root-ca.crt", items: [{ key: "ca.crt", path: "ca.crt" }] } },
    { downwardAPI: { items: [{ path: "namespace", fieldRef: { apiVersion: "v1", fieldPath: "metadata.namespace" } }] } },
  ],
  defaultMode: 0o644,
};

export function withToken(pod: KubeObject, random: () => number): KubeObject {
  const volumes = listAt(pod, "volumes");
  const existing = volumes.map((volume) => textAt(volume, "name")).find((name) => name.startsWith(VOLUME_PREFIX));
  const name = existing ?? generateName(VOLUME_PREFIX, random);
  const mounted = { ...mountIn(pod, "initContainers", name), ...mountIn(pod, "containers", name) };
  if (Object.keys(mounted).length === 0) return pod;
  return withSpec(pod, { ...mounted, ...(existing === undefined ? { volumes: [...volumes, { name, projected: SOURCE }] } : {}) });
}

/** Empty when every container already has a mount at that path. */
function mountIn(pod: KubeObject, list: "containers" | "initContainers", volume: string): JsonObject {
  const containers = listAt(pod, list);
  const mounted = containers.map((container) => {
    const mounts = mountsOf(container);
    if (!isJsonObject(container) || mounts.some((mount) => field(mount, "mountPath") === MOUNT_PATH)) return container;
    return { ...container, volumeMounts: [...mounts, { name: volume, readOnly: true, mountPath: MOUNT_PATH }] };
  });
  return mounted.every((container, index) => container === containers[index]) ? {} : { [list]: mounted };
}

function mountsOf(container: Json): readonly Json[] {
  const mounts = field(container, "volumeMounts");
  return Array.isArray(mounts) ? (mounts as readonly Json[]) : [];
}

function listAt(pod: KubeObject, list: string): readonly Json[] {
  const items = fieldAt(pod, "spec", list);
  return Array.isArray(items) ? (items as readonly Json[]) : [];
}
