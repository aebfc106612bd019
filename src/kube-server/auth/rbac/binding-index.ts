/**
 * An index of bindings by subject, updated with every write to the store. The cost of a lookup depends on the user's own bindings, not on the
 * number of all bindings.
 */
import { field, fieldAt, type KubeObject } from "#kube";
import type { User } from "../../protocol/request.ts";
import { serviceAccountName } from "../users.ts";
import type { Store, StoreEvent } from "../../store/index.ts";

export type IndexedSubject = { readonly kind: string; readonly name: string; readonly namespace: string };

export type IndexedBinding = {
  readonly name: string;
  /** "" for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly role: { readonly kind: string; readonly name: string };
  readonly subjects: readonly IndexedSubject[];
};

/** By namespace ("": cluster-wide), then by subject. */
type Index = Map<string, Map<string, Set<IndexedBinding>>>;

const COLLECTIONS = ["rbac.authorization.k8s.io/clusterrolebindings", "rbac.authorization.k8s.io/rolebindings"] as const;

export class BindingIndex {
  readonly #byObject = new WeakMap<KubeObject, IndexedBinding>();
  readonly #index: Index = new Map();

  /** Watches the store until it is closed. */
  constructor(store: Store) {
    for (const collection of COLLECTIONS) {
      const listed = store.list(collection);
      if (!listed.ok) throw new Error(`the bindings of now cannot be listed (${collection})`);
      for (const { object } of listed.value.items) this.#add(object);
      const watched = store.watch({ collection, from: listed.value.revision, onEvent: (event) => this.#follow(event) });
      if (!watched.ok) throw new Error(`the bindings of now cannot be watched (${collection})`);
    }
  }

  /** Bindings of the user or one of its groups, in this namespace ("": cluster-wide). May contain duplicates. */
  *about({ name, groups }: User, namespace: string): Generator<IndexedBinding> {
    const bySubject = this.#index.get(namespace);
    if (bySubject === undefined) return;
    yield* bySubject.get(`u:${name}`) ?? [];
    for (const group of groups) yield* bySubject.get(`g:${group}`) ?? [];
  }

  #follow({ type, object, previous }: StoreEvent): void {
    if (previous !== undefined) this.#remove(previous);
    if (type !== "DELETED") this.#add(object);
  }

  #add(object: KubeObject): void {
    const binding = readBinding(object);
    this.#byObject.set(object, binding);
    const bySubject = this.#index.get(binding.namespace) ?? new Map<string, Set<IndexedBinding>>();
    this.#index.set(binding.namespace, bySubject);
    for (const key of keysOf(binding)) bySubject.set(key, (bySubject.get(key) ?? new Set()).add(binding));
  }

  #remove(object: KubeObject): void {
    const binding = this.#byObject.get(object);
    const bySubject = binding === undefined ? undefined : this.#index.get(binding.namespace);
    if (binding === undefined || bySubject === undefined) return;
    for (const key of keysOf(binding)) {
      const all = bySubject.get(key);
      all?.delete(binding);
      if (all?.size === 0) bySubject.delete(key);
    }
    if (bySubject.size === 0) this.#index.delete(binding.namespace);
  }
}

function readBinding(object: KubeObject): IndexedBinding {
  const subjects = fieldAt(object, "subjects");
  const text = (value: unknown, name: string) => {
    const found = field(value, name);
    return typeof found === "string" ? found : "";
  };
  const roleRef = fieldAt(object, "roleRef");
  return {
    name: object.metadata.name,
    namespace: object.metadata.namespace ?? "",
    role: { kind: text(roleRef, "kind"), name: text(roleRef, "name") },
    subjects: (Array.isArray(subjects) ? subjects : []).map((subject) => ({
      kind: text(subject, "kind"),
      name: text(subject, "name"),
      namespace: text(subject, "namespace"),
    })),
  };
}

function keysOf({ subjects, namespace }: IndexedBinding): Set<string> {
  return new Set(subjects.map((subject) => keyOf(subject, namespace)).filter((key) => key !== undefined));
}

/** A ServiceAccount without a namespace is in the namespace of the binding. */
function keyOf({ kind, name, namespace }: IndexedSubject, bindingNamespace: string): string | undefined {
  if (kind === "User") return `u:${name}`;
  if (kind === "Group") return `g:${name}`;
  const home = namespace === "" ? bindingNamespace : namespace;
  return kind === "ServiceAccount" && home !== "" ? `u:${serviceAccountName(home, name)}` : undefined;
}

/** The first subject of the binding that matches this user. */
export function subjectFor({ subjects, namespace }: IndexedBinding, user: User): IndexedSubject | undefined {
  return subjects.find((subject) => {
    const key = keyOf(subject, namespace);
    return key === `u:${user.name}` || user.groups.some((group) => key === `g:${group}`);
  });
}
