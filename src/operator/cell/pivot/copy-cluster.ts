/**
 * The LatticeCluster of a child on both sides: copied to the child before its pivot, and back to the parent whenever the child's has changed after it.
 */
import { err, ok, type Result } from "#base";
import { capiNamespace, COMPILED_ANNOTATIONS } from "#cluster-compiler";
import { MIRROR_ANNOTATION, mirrorAnnotation, specDigest, specMirrorOf } from "#controllers";
import { latticeClusters, type LatticeCluster } from "#crds";
import { apiVersionOf, configMaps, secretsByMetadata, type KubeObject } from "#kube";
import type { KubeClient, KubeError } from "#kube-client";
import { MOVE_JOURNAL, MOVE_RECORD, ownershipOf } from "#pivot";
import { problemOfRequest, type PivotContext, type PivotResult } from "./pivot-context.ts";

/** Created, or brought up to date as long as the child does not own itself: after that, its own is the one that counts. */
export async function copyToChild(context: PivotContext): PivotResult<void> {
  const { cluster, client, child, signal } = context;
  const { name } = cluster.metadata;
  const owner = await ownsItself(child, name, signal);
  if (!owner.ok) return problemOfRequest(context, "the child could not be asked whether it owns itself", owner.error);
  if (owner.value) return ok(undefined);
  const copied = await writeCopy(child, cluster, signal);
  if (!copied.ok) return problemOfRequest(context, `LatticeCluster ${name} could not be copied to the child`, copied.error);
  const annotation = mirrorAnnotation(specDigest(copied.value), specDigest(cluster));
  if (cluster.metadata.annotations?.[MIRROR_ANNOTATION] === annotation) return ok(undefined);
  const patch = { metadata: { annotations: { [MIRROR_ANNOTATION]: annotation } } };
  const noted = await client.patch(latticeClusters, { name }, { type: "merge", patch }, { signal });
  return noted.ok ? ok(undefined) : problemOfRequest(context, `LatticeCluster ${name} could not be annotated`, noted.error);
}

async function ownsItself(child: KubeClient, name: string, signal: AbortSignal): Promise<Result<boolean, KubeError>> {
  const namespace = capiNamespace(name);
  const record = await child.get<KubeObject>(configMaps, { namespace, name: MOVE_RECORD }, { signal });
  if (!record.ok && record.error.kind !== "not-found") return record;
  const journal = await child.get(secretsByMetadata, { namespace, name: MOVE_JOURNAL }, { signal });
  if (!journal.ok && journal.error.kind !== "not-found") return journal;
  return ok(ownershipOf({ record: record.ok ? record.value : undefined, hasJournal: journal.ok }).state === "owner");
}

async function writeCopy(child: KubeClient, cluster: LatticeCluster, signal: AbortSignal): Promise<Result<LatticeCluster, KubeError>> {
  const { name } = cluster.metadata;
  const live = await child.get(latticeClusters, { name }, { signal });
  if (!live.ok && live.error.kind !== "not-found") return live;
  if (!live.ok) {
    const metadata = { name, annotations: compiledAnnotations(cluster) };
    const copy = { apiVersion: apiVersionOf(latticeClusters), kind: latticeClusters.kind, metadata, spec: cluster.spec };
    return child.create(latticeClusters, copy as LatticeCluster, { signal });
  }
  const wanted = compiledAnnotations(cluster);
  const { annotations = {} } = live.value.metadata;
  const hasAnnotations = COMPILED_ANNOTATIONS.every((annotation) => annotations[annotation] === wanted[annotation]);
  if (hasAnnotations && specDigest(live.value) === specDigest(cluster)) return live;
  const others = Object.entries(annotations).filter(([annotation]) => !COMPILED_ANNOTATIONS.includes(annotation));
  const metadata = { ...live.value.metadata, annotations: { ...Object.fromEntries(others), ...wanted } };
  return child.update(latticeClusters, { ...live.value, metadata, spec: cluster.spec }, { signal });
}

/** Without them the child would compile other machines than it has, and replace them all. */
function compiledAnnotations({ metadata: { annotations = {} } }: LatticeCluster): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(annotations).filter(([annotation]) => COMPILED_ANNOTATIONS.includes(annotation)));
}

export type MirrorClients = { readonly client: KubeClient; readonly child: KubeClient; readonly signal: AbortSignal };

/** False: there was nothing to copy, or a user has edited the parent's. */
export async function copyFromChild(name: string, { client, child, signal }: MirrorClients): Promise<Result<boolean, string>> {
  const theirs = await child.get(latticeClusters, { name }, { signal });
  if (!theirs.ok) return err(theirs.error.message);
  const ours = await client.get(latticeClusters, { name }, { signal });
  if (!ours.ok) return err(ours.error.message);
  const digest = specDigest(theirs.value);
  if (specMirrorOf(ours.value, digest) !== "outdated") return ok(false);
  const { spec } = theirs.value;
  const annotate = (object: LatticeCluster, value: string): LatticeCluster => ({
    ...object,
    metadata: { ...object.metadata, annotations: { ...object.metadata.annotations, [MIRROR_ANNOTATION]: value } },
  });
  const written = await client.update(latticeClusters, annotate({ ...ours.value, spec }, digest), { signal });
  if (!written.ok) return err(written.error.message);
  const stored = specDigest(written.value);
  if (stored === digest) return ok(true);
  // this cluster's schema has other defaults, or lacks fields
  const noted = await client.update(latticeClusters, annotate(written.value, mirrorAnnotation(digest, stored)), { signal });
  return noted.ok ? ok(true) : err(noted.error.message);
}
