/**
 * The objects of an owner on the server, found by their label. The cache may lack an object that was applied shortly before; where no garbage
 * collector would delete it later, the server must be asked.
 *
 * A label proves nothing alone: a person who copies an object copies its labels. An object is ours if our field manager set the label (ADR 0006).
 */
import { err, ok, type Result } from "#base";
import { isBeingDeleted, type KubeObject, type Resource } from "#kube";
import type { KubeError, KubeReader } from "#kube-client";
import { annotationOf, isOurs, KEPT_KINDS, OWNER_LABEL, ownerLabelOf, PRUNE_ANNOTATION, type ApplyOwner } from "../identity.ts";
import { selectionsOf, type ManagerScope, type Selection } from "../scope.ts";
import type { ApplyFailure } from "./change-set.ts";
import { failureOf } from "./refusal.ts";

export type InventoryObject = { readonly resource: Resource; readonly object: KubeObject };

export type InventoryOptions = {
  readonly client: Pick<KubeReader, "list">;
  /** Absent: the whole cluster. */
  readonly scope?: ManagerScope | undefined;
};

const PAGE_SIZE = 500;

export class Inventory {
  readonly #options: InventoryOptions;

  constructor(options: InventoryOptions) {
    this.#options = options;
  }

  /** The owner's objects that may be deleted, those that are being deleted included. */
  async ownedBy(
    owner: ApplyOwner,
    resources: readonly Resource[],
    signal: AbortSignal,
  ): Promise<Result<readonly InventoryObject[], ApplyFailure>> {
    const found: InventoryObject[] = [];
    for (const resource of resources.filter(({ kind }) => !KEPT_KINDS.has(kind))) {
      for (const selection of selectionsOf(resource, this.#options.scope).values()) {
        const listed = await this.#list(resource, { ...selection, labelSelector: `${OWNER_LABEL}=${ownerLabelOf(owner)}` }, signal);
        if (!listed.ok) return err({ ...failureOf(owner.object, listed.error), object: `list of ${resource.plural}` });
        const ours = listed.value.filter((object) => isOurs(object, owner) && mayDelete(object));
        found.push(...ours.map((object) => ({ resource, object })));
      }
    }
    return ok(found);
  }

  /** "Not found" for a collection: the cluster does not serve the kind, so there are no objects. */
  async #list(resource: Resource, query: OwnerQuery, signal: AbortSignal): Promise<Result<readonly KubeObject[], KubeError>> {
    const objects: KubeObject[] = [];
    let token: string | undefined;
    do {
      const page = await this.#options.client.list<KubeObject>(resource, { ...query, limit: PAGE_SIZE, continue: token }, { signal });
      if (!page.ok) return page.error.kind === "not-found" ? ok([]) : page;
      objects.push(...page.value.items);
      token = page.value.metadata.continue || undefined;
    } while (token !== undefined);
    return ok(objects);
  }
}

type OwnerQuery = Selection & { readonly labelSelector: string };

/** No kind that is always kept, and not excluded by its annotation. */
function mayDelete(object: KubeObject): boolean {
  return !KEPT_KINDS.has(object.kind) && annotationOf(object, PRUNE_ANNOTATION) !== "never";
}

/** It may be deleted, and is not yet. */
export function mayPrune(object: KubeObject): boolean {
  return !isBeingDeleted(object) && mayDelete(object);
}

/** A deletion with these is refused if the object was changed or replaced since it was read. */
export function preconditionsOf({ metadata: { uid, resourceVersion } }: KubeObject) {
  return { ...(uid === undefined ? {} : { uid }), ...(resourceVersion === undefined ? {} : { resourceVersion }) };
}
