/** What roles grant and what a user has requested, in one form: "list secrets", "update latticeclusters.lattice.dev/status", "get /". */
import type { ClusterUser, EmbeddedCluster } from "#embedded-cluster";
import { field, type KubeObject } from "#kube";

type Rule = {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
};
type Recorded = Pick<EmbeddedCluster, "actions">;

/** The grants of the rules of these objects. */
export function grantsOf(objects: readonly KubeObject[]): ReadonlySet<string> {
  const rules = objects.flatMap((object) => (field(object, "rules") ?? []) as unknown as readonly Rule[]);
  return new Set(
    rules.flatMap(({ apiGroups: [group = ""] = [], resources = [], nonResourceURLs = [], verbs }) => [
      ...nonResourceURLs.flatMap((path) => verbs.map((verb) => `${verb} ${path}`)),
      ...resources.flatMap((resource) => {
        const [plural = "", ...below] = resource.split("/");
        const name = `${group === "" ? plural : `${plural}.${group}`}${below.map((one) => `/${one}`).join("")}`;
        return verbs.map((verb) => `${verb} ${name}`);
      }),
    ]),
  );
}

/** `where`: only requests in these namespaces; cluster-wide ones have none. */
export function requestedGrants(
  { actions }: Recorded,
  { name: wanted }: ClusterUser,
  where: (namespace: string | undefined) => boolean = () => true,
): ReadonlySet<string> {
  const own = [...actions].filter(({ user, namespace }) => user.name === wanted && where(namespace));
  return new Set(
    own.flatMap(({ verb, resource, subresource, method, path }) => {
      if (resource === undefined) return [`${method.toLowerCase()} ${path}`];
      const { plural, group } = resource;
      const name = `${group === "" ? plural : `${plural}.${group}`}${subresource === undefined ? "" : `/${subresource}`}`;
      // an apply of an object that does not exist creates it
      return verb === "apply" ? [`patch ${name}`, `create ${name}`] : [`${verb} ${name}`];
    }),
  );
}

export function refusedRequests({ actions }: Recorded, { name: wanted }: ClusterUser): readonly string[] {
  return [...actions].filter(({ user, code }) => user.name === wanted && code === 403).map(({ verb, path }) => `${verb} ${path}`);
}
