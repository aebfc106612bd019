/**
 * Protects claims in use by a Pod, and bound volumes, from deletion. Admission adds the finalizers; they are
 * removed here, once nothing uses the volume.
 */
import type { Result } from "#base";
import {
  keyOf,
  keyText,
  parseKey,
  persistentVolumeClaims,
  persistentVolumes,
  pods as podResource,
  volumeAttributesClasses,
  type KubeObject,
  type PersistentVolume,
  type PersistentVolumeClaim,
  type Pod,
  type Resource,
} from "#kube";
import type { KubeError } from "#kube-client";
import type { KubeController, KubeControllerContext } from "../../context.ts";
import { done, passOf, type Pass } from "../../work.ts";

const CLAIM_FINALIZER = "kubernetes.io/pvc-protection";
const VOLUME_FINALIZER = "kubernetes.io/pv-protection";
const ATTRIBUTES_FINALIZER = "kubernetes.io/vac-protection";

export const claimProtection: KubeController = {
  name: "persistentvolumeclaim-protection-controller",
  start(context) {
    const { informers } = context;
    const queue = context.work({ name: "claim-protection", pass: (key) => passClaim(context, key) });
    informers.subscribe(persistentVolumeClaims, ({ key, after }) => {
      if (after?.metadata.deletionTimestamp !== undefined) queue.add(keyText(key));
    });
    informers.subscribe(podResource, ({ before, after }) => {
      if (before !== undefined && after === undefined) claimsOf(before).forEach((name) => queue.add(keyText({ ...keyOf(before), name })));
    });
  },
};

export const volumeProtection: KubeController = {
  name: "persistentvolume-protection-controller",
  start(context) {
    const queue = context.work({ name: "volume-protection", pass: (name) => passVolume(context, name) });
    context.informers.subscribe(persistentVolumes, ({ key, after }) => {
      if (after?.metadata.deletionTimestamp !== undefined) queue.add(key.name);
    });
  },
};

export const attributesClassProtection: KubeController = {
  name: "volumeattributesclass-protection-controller",
  start(context) {
    const queue = context.work({ name: "attributes-class-protection", pass: (name) => passAttributesClass(context, name) });
    context.informers.subscribe(volumeAttributesClasses, ({ key, after }) => {
      if (after?.metadata.deletionTimestamp !== undefined) queue.add(key.name);
    });
    const left = ({ before }: { readonly before?: Classed | undefined }) => {
      const name = before?.spec.volumeAttributesClassName;
      if (typeof name === "string") queue.add(name);
    };
    context.informers.subscribe(persistentVolumeClaims, left);
    context.informers.subscribe(persistentVolumes, left);
  },
};

type Classed = PersistentVolumeClaim | PersistentVolume;

async function passAttributesClass(context: KubeControllerContext, name: string): Promise<Pass> {
  const found = context.informers.of(volumeAttributesClasses).get({ name });
  if (found?.metadata.deletionTimestamp === undefined) return done;
  const users: readonly Classed[] = [
    ...context.informers.of(persistentVolumeClaims).list(),
    ...context.informers.of(persistentVolumes).list(),
  ];
  if (users.some(({ spec }) => spec.volumeAttributesClassName === name)) return done;
  return passOf(await release(context, volumeAttributesClasses, found, ATTRIBUTES_FINALIZER));
}

function claimsOf({ spec }: Pod): readonly string[] {
  return (spec.volumes ?? []).flatMap(({ persistentVolumeClaim }) => persistentVolumeClaim?.claimName ?? []);
}

async function passClaim(context: KubeControllerContext, key: string): Promise<Pass> {
  const claim = context.informers.of(persistentVolumeClaims).get(parseKey(key));
  if (claim?.metadata.deletionTimestamp === undefined) return done;
  const { name, namespace } = claim.metadata;
  const pods = context.informers.of(podResource).list(namespace);
  // a Pod without a node has not mounted a volume
  const isUsed = pods.some((pod) => (pod.spec.nodeName ?? "") !== "" && claimsOf(pod).includes(name));
  return isUsed ? done : passOf(await release(context, persistentVolumeClaims, claim, CLAIM_FINALIZER));
}

async function passVolume(context: KubeControllerContext, name: string): Promise<Pass> {
  const volume = context.informers.of(persistentVolumes).get({ name });
  if (volume?.metadata.deletionTimestamp === undefined || volume.status?.phase === "Bound") return done;
  return passOf(await release(context, persistentVolumes, volume, VOLUME_FINALIZER));
}

async function release<T extends KubeObject>(
  { client }: KubeControllerContext,
  resource: Resource<T>,
  object: T,
  finalizer: string,
): Promise<Result<unknown, KubeError>> {
  const finalizers = object.metadata.finalizers ?? [];
  if (!finalizers.includes(finalizer)) return { ok: true, value: undefined };
  const metadata = { ...object.metadata, finalizers: finalizers.filter((one) => one !== finalizer) };
  const updated = await client.update(resource, { ...object, metadata });
  return updated.ok || updated.error.kind !== "not-found" ? updated : { ok: true, value: undefined };
}
