/** Users and their rules. Only for tests. */
import type { Json } from "#kube";
import type { User } from "../protocol/request.ts";
import type { TestResponse, TestServer } from "../rest/server.test-support.ts";

const GROUP = "rbac.authorization.k8s.io";
export const RBAC = `/apis/${GROUP}/v1`;

export const person = (name: string, ...groups: readonly string[]): User => ({
  name,
  uid: "",
  groups: [...groups, "system:authenticated"],
});

export type GivenRule = {
  readonly verbs: readonly string[];
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
};

/** A ClusterRole of that name, bound to the user: in one namespace, or cluster-wide. */
export async function grant({ ask }: TestServer, user: string, rules: readonly GivenRule[], namespace?: string): Promise<void> {
  const name = `${user}-${rules.flatMap(({ verbs }) => verbs).join("-")}-${namespace ?? "all"}`
    .replaceAll(":", ".")
    .replaceAll("*", "all")
    .toLowerCase();
  const role = await ask("POST", `${RBAC}/clusterroles`, { body: { metadata: { name }, rules: rules as unknown as Json } });
  mustBeCreated(role);
  const place = namespace === undefined ? "clusterrolebindings" : `namespaces/${namespace}/rolebindings`;
  const subjects = [{ kind: "User", apiGroup: GROUP, name: user }];
  const bound = await ask("POST", `${RBAC}/${place}`, {
    body: { metadata: { name }, roleRef: { apiGroup: GROUP, kind: "ClusterRole", name }, subjects },
  });
  mustBeCreated(bound);
}

function mustBeCreated({ status, body }: TestResponse): void {
  if (status !== 201) throw new Error(`expected 201, got ${status}: ${JSON.stringify(body)}`);
}
