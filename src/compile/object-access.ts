/**
 * Which objects of a namespace the containers of a service may mount: those that Lattice creates for a service of the same source namespace, and those
 * that their owner labels shareable. Whether any other object exists is not disclosed.
 */
import { isShareable, SHAREABLE_LABEL, type MountedKind } from "#service-compiler";

/** The properties of an object that decide about access. */
export type FoundObject = {
  readonly labels: Readonly<Record<string, unknown>>;
  /** The LatticeService that it was created for: `namespace/name`. */
  readonly madeFor: string | undefined;
};

/** "assumed": when files are compiled, objects that are not among them count as shareable. */
export type FindObject = (kind: MountedKind, namespace: string, name: string) => FoundObject | "assumed" | undefined;

export type Mount = {
  readonly kind: MountedKind;
  readonly namespace: string;
  readonly name: string;
  /** The namespace of the LatticeService. */
  readonly source: string;
  /** The LatticeService that an object of this name is or will be created for. */
  readonly maker: string | undefined;
};

/** undefined: it may be mounted. */
export function mountProblem({ kind, namespace, name, source, maker }: Mount, find: FindObject): string | undefined {
  const found = find(kind, namespace, name);
  // an existing object takes precedence over one that a service would create under the same name
  const owner = typeof found === "object" ? found.madeFor : maker;
  if (owner?.startsWith(`${source}/`) === true) return undefined;
  if (typeof found === "object" ? isShareable(found.labels, source) : found === "assumed" && maker === undefined) return undefined;
  return [
    `${kind} ${namespace}/${name} is neither made for a service of namespace ${source} nor shared with it`,
    `its owner shares it with the label ${SHAREABLE_LABEL}: "true" (or: ${source})`,
  ].join("\n");
}
