/**
 * Provisions volumes: StorageClass `standard` is the default, and every claim on it is bound at once to a new volume.
 *
 * On a real cluster the controller manager also binds the volume that names the claim. The first writer wins.
 */
import { ok, type Result } from "#base";
import {
  keyText,
  parseKey,
  persistentVolumeClaims,
  persistentVolumes,
  storageClasses,
  type PersistentVolume,
  type PersistentVolumeClaim,
} from "#kube";
import type { KubeError } from "#kube-client";
import type { KubeController, KubeControllerContext } from "../context.ts";
import { done, passOf, type Pass } from "../work.ts";

const PROVISIONER = "simulation.lattice.dev/volumes";
const CLASS = "standard";

export const volumes: KubeController = {
  name: "persistentvolume-simulation",
  start(context) {
    const { informers } = context;
    const claims = context.work({ name: "volume-claims", pass: (key) => passClaim(context, key) });
    const classes = context.work({ name: "storage-class", pass: () => passClass(context) });
    const reclaim = context.work({ name: "volumes", pass: (name) => passVolume(context, name) });
    informers.of(storageClasses);
    informers.subscribe(persistentVolumeClaims, ({ key, before, after }) => {
      if (after !== undefined) claims.add(keyText(key));
      else if (before?.spec.volumeName !== undefined) reclaim.add(before.spec.volumeName);
    });
    informers.of(persistentVolumes);
    classes.add(CLASS);
  },
};

async function passClass({ client, informers }: KubeControllerContext): Promise<Pass> {
  if (informers.of(storageClasses).get({ name: CLASS }) !== undefined) return done;
  const created = await client.create(storageClasses, {
    apiVersion: "storage.k8s.io/v1",
    kind: "StorageClass",
    metadata: { name: CLASS, annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
    provisioner: PROVISIONER,
    reclaimPolicy: "Delete",
    volumeBindingMode: "Immediate",
  });
  return created.ok || created.error.kind === "already-exists" ? done : passOf(created);
}

async function passClaim(context: KubeControllerContext, key: string): Promise<Pass> {
  const claim = context.informers.of(persistentVolumeClaims).get(parseKey(key));
  if (claim === undefined || claim.metadata.deletionTimestamp !== undefined || claim.status?.phase === "Bound") return done;
  if (claim.spec.volumeName !== undefined || (claim.spec.storageClassName ?? CLASS) !== CLASS) return done;
  const volume = await provision(context, claim);
  if (!volume.ok) return passOf(volume);
  const bound = await bind(context, claim, volume.value);
  return bound.ok || bound.error.kind === "not-found" ? done : passOf(bound);
}

async function provision(
  { client, record }: KubeControllerContext,
  claim: PersistentVolumeClaim,
): Promise<Result<PersistentVolume, KubeError>> {
  const { name, namespace = "", uid = "", resourceVersion = "" } = claim.metadata;
  const volume: PersistentVolume = {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name: `pvc-${uid}`, annotations: { "pv.kubernetes.io/provisioned-by": PROVISIONER } },
    spec: {
      capacity: { storage: claim.spec.resources?.requests?.["storage"] ?? "1Gi" },
      accessModes: claim.spec.accessModes ?? ["ReadWriteOnce"],
      volumeMode: claim.spec.volumeMode ?? "Filesystem",
      persistentVolumeReclaimPolicy: "Delete",
      storageClassName: CLASS,
      hostPath: { path: `/var/lib/simulation/${uid}` },
      claimRef: { apiVersion: "v1", kind: "PersistentVolumeClaim", namespace, name, uid, resourceVersion },
    },
  };
  const created = await client.create(persistentVolumes, volume);
  if (!created.ok) return created.error.kind === "already-exists" ? client.get(persistentVolumes, { name: volume.metadata.name }) : created;
  const note = `Successfully provisioned volume ${volume.metadata.name}`;
  record({ regarding: claim, type: "Normal", reason: "ProvisioningSucceeded", note });
  return created;
}

async function bind(
  { client }: KubeControllerContext,
  claim: PersistentVolumeClaim,
  volume: PersistentVolume,
): Promise<Result<unknown, KubeError>> {
  const { namespace, name } = claim.metadata;
  const annotations = {
    "pv.kubernetes.io/bind-completed": "yes",
    "pv.kubernetes.io/bound-by-controller": "yes",
    "volume.kubernetes.io/storage-provisioner": PROVISIONER,
    "volume.beta.kubernetes.io/storage-provisioner": PROVISIONER,
  };
  const spec = { volumeName: volume.metadata.name, storageClassName: CLASS };
  const named = await client.patch(
    persistentVolumeClaims,
    { namespace, name },
    { type: "merge", patch: { metadata: { annotations }, spec } },
  );
  if (!named.ok) return named;
  const capacity = { storage: claim.spec.resources?.requests?.["storage"] ?? "1Gi" };
  const status = { phase: "Bound", accessModes: [...(claim.spec.accessModes ?? [])], capacity };
  const bound = await client.patch(
    persistentVolumeClaims,
    { namespace, name },
    { type: "merge", patch: { status } },
    { subresource: "status" },
  );
  if (!bound.ok) return bound;
  if (volume.status?.phase === "Bound") return ok(undefined);
  return client.patch(
    persistentVolumes,
    { name: volume.metadata.name },
    { type: "merge", patch: { status: { phase: "Bound" } } },
    { subresource: "status" },
  );
}

/** Only volumes that were provisioned here are deleted with their claim. */
async function passVolume({ client, informers }: KubeControllerContext, name: string): Promise<Pass> {
  const volume = informers.of(persistentVolumes).get({ name });
  if (volume === undefined || volume.metadata.annotations?.["pv.kubernetes.io/provisioned-by"] !== PROVISIONER) return done;
  // the protection finalizer is removed, because the claim is deleted
  const patch = { status: { phase: "Released" } };
  const released = await client.patch(persistentVolumes, { name }, { type: "merge", patch }, { subresource: "status" });
  if (!released.ok) return released.error.kind === "not-found" ? done : passOf(released);
  return passOf(await client.delete(persistentVolumes, { name }));
}
