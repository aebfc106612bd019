/**
 * Which objects of a namespace the containers of a service may mount: those that Lattice makes for a service of the same author, and those
 * that their owner labels shareable. Whether any other object exists is not disclosed.
 */
import { isShareable, SHAREABLE_LABEL, type MountedKind } from "#service-compiler";

/** What is known of an object by its name. */
export type FoundObject = {
  readonly labels: Readonly<Record<string, unknown>>;
  /** The LatticeService that it was made for: `namespace/name`. */
  readonly madeFor: string | undefined;
};

/** "assumed": when files are compiled, objects that are not among them count as shareable. */
export type FindObject = (kind: MountedKind, namespace: string, name: string) => FoundObject | "assumed" | undefined;

export type Mount = {
  readonly kind: MountedKind;
  readonly namespace: string;
  readonly name: string;
  /** Where the service is written. */
  readonly source: string;
  /** The LatticeService that an object of this name is or will be made for. */
  readonly maker: string | undefined;
};

/** Undefined: it may be mounted. */
export function mountProblem({ kind, namespace, name, source, maker }: Mount, find: FindObject): string | undefined {
  const found = find(kind, namespace, name);
  // what is there counts, and not what a service would like to make in its place
  const owner = typeof found === "object" ? found.madeFor : maker;
  if (owner?.startsWith(`${source}/`) === true) return undefined;
  if (typeof found === "object" ? isShareable(found.labels, source) : found === "assumed" && maker === undefined) return undefined;
  return [
    `${kind} ${namespace}/${name} is neither made for a service of namespace ${source} nor shared with it`,
    `its owner shares it with the label ${SHAREABLE_LABEL}: "true" (or: ${source})`,
  ].join("\n");
}
