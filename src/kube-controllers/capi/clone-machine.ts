/**
 * Creates a machine: bootstrap config, infrastructure machine, then the Machine that refers to both.
 *
 * A crash in between leaves the first objects without a Machine. Their creator owns them, and the next attempt uses their name again, so
 * nothing is left over.
 */
import { ok, type Result } from "#base";
import { capiMachines, kubeadmConfigs, type JsonObject, type KubeObject, type OwnerReference } from "#kube";
import type { KubeError } from "#kube-client";
import { resourceOf } from "./caches.ts";
import type { CapiWork } from "./capi-work.ts";
import { CLONED_FROM_KIND, CLONED_FROM_NAME, MACHINE_FINALIZER, nameSuffix } from "./names.ts";
import { hasOwner, isLive, objectAt, ownerReference, refAt, type CapiObject, type CapiRef } from "./objects.ts";
import { createOnce } from "./writes.ts";

export type MachineDraft = {
  readonly owner: CapiObject;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Annotations of the Machine alone. */
  readonly hooks?: Readonly<Record<string, string>>;
  /** A spec of a Machine whose references are templates. */
  readonly spec: JsonObject;
  /** The bootstrap config, where it has no template. */
  readonly config?: JsonObject;
  /** Whether a name is that of an existing Machine, by a list from the server. */
  readonly isTaken: (name: string) => boolean;
};

/** True: the Machine was created. False: a template is absent. */
export async function cloneMachine(work: CapiWork, draft: MachineDraft): Promise<Result<boolean, KubeError>> {
  const { owner, spec } = draft;
  const { namespace } = owner.metadata;
  const template = refAt(spec, "infrastructureRef");
  const configTemplate = refAt(spec, "bootstrap", "configRef");
  const source = work.caches.resolve(namespace, template);
  const configSource = draft.config ?? objectAt(work.caches.resolve(namespace, configTemplate), "spec", "template", "spec");
  const hasConfig =
    draft.config !== undefined || work.caches.resolve(namespace, configTemplate) !== undefined || configTemplate === undefined;
  if (template === undefined || source === undefined || !hasConfig) return ok(false);
  const name = leftover(work, draft) ?? `${owner.metadata.name}-${nameSuffix(work.random)}`;
  const metadata = { name, ...(namespace === undefined ? {} : { namespace }), labels: draft.labels, annotations: draft.annotations };
  const withConfig = draft.config !== undefined || configTemplate !== undefined;
  if (withConfig) {
    const config: CapiObject = {
      apiVersion: "bootstrap.cluster.x-k8s.io/v1beta2",
      kind: "KubeadmConfig",
      metadata: {
        ...metadata,
        ...clonedFrom(draft.config === undefined ? configTemplate : undefined, draft),
        ownerReferences: [ownerReference(owner)],
      },
      spec: configSource,
    };
    const created = await createOnce(work.client, kubeadmConfigs, config);
    if (!created.ok) return created;
  }
  const infrastructure = await createInfrastructure(work, { draft, name, template, source });
  if (!infrastructure.ok) return infrastructure;
  const machine: CapiObject = {
    apiVersion: "cluster.x-k8s.io/v1beta2",
    kind: "Machine",
    metadata: {
      ...metadata,
      annotations: { ...draft.annotations, ...draft.hooks },
      finalizers: [MACHINE_FINALIZER],
      ownerReferences: [controller(owner)],
    },
    spec: {
      ...spec,
      deletion: { nodeDeletionTimeoutSeconds: 10, ...objectAt(spec, "deletion") },
      bootstrap: withConfig
        ? { configRef: { apiGroup: "bootstrap.cluster.x-k8s.io", kind: "KubeadmConfig", name } }
        : objectAt(spec, "bootstrap"),
      infrastructureRef: { apiGroup: template.apiGroup, kind: template.kind.replace(/Template$/, ""), name },
    },
  };
  const created = await createOnce(work.client, capiMachines, machine);
  return created.ok ? ok(true) : created;
}

type Infrastructure = { readonly draft: MachineDraft; readonly name: string; readonly template: CapiRef; readonly source: CapiObject };

async function createInfrastructure(
  work: CapiWork,
  { draft, name, template, source }: Infrastructure,
): Promise<Result<boolean, KubeError>> {
  const kind = work.caches.kindOf({ ...template, kind: template.kind.replace(/Template$/, "") });
  if (kind === undefined) return ok(false);
  const { namespace } = draft.owner.metadata;
  const resource = resourceOf(kind);
  return createOnce(work.client, resource, {
    apiVersion: source.apiVersion,
    kind: resource.kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      labels: draft.labels,
      ...clonedFrom(template, draft),
      ownerReferences: [ownerReference(draft.owner)],
    },
    spec: objectAt(source, "spec", "template", "spec"),
  });
}

function clonedFrom(
  template: CapiRef | undefined,
  { annotations }: MachineDraft,
): { readonly annotations: Readonly<Record<string, string>> } {
  if (template === undefined) return { annotations };
  return {
    annotations: { ...annotations, [CLONED_FROM_NAME]: template.name, [CLONED_FROM_KIND]: `${template.kind}.${template.apiGroup}` },
  };
}

/** The name of a config or infrastructure machine that the owner created without getting to the Machine. */
function leftover(work: CapiWork, { owner, isTaken }: MachineDraft): string | undefined {
  const own = (object: KubeObject) => hasOwner(object, owner) && isLive(object) && !isTaken(object.metadata.name);
  const candidates = (["configs", "devMachines", "localMachines"] as const).flatMap((kind) =>
    work.caches.of(kind).list(owner.metadata.namespace),
  );
  return candidates.find(own)?.metadata.name;
}

const controller = (owner: KubeObject): OwnerReference => ({ ...ownerReference(owner), controller: true, blockOwnerDeletion: true });
