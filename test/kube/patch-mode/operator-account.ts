/**
 * A client with exactly the rights that `lattice rbac` prints, on any API server: the operator of the stories must not need more. Requests that were
 * refused for want of a right are kept, because most parts of an operator try them again and go on.
 */
import { sensitive } from "#base";
import {
  clusterRoleBindings,
  clusterRoles,
  configMaps,
  deployments,
  fieldAt,
  namespaces,
  pathOf,
  roleBindings,
  roles,
  serviceAccounts,
  type KubeObject,
} from "#kube";
import type { KubeClient, Transport } from "#kube-client";
import { OPERATOR_NAME, operatorRbac } from "#operator";
import { clientOf } from "../../builders/kubeconfig-client.ts";
import { tokenKubeconfig } from "../cluster-api/operator-pod.ts";
import { send } from "../harness/http.ts";
import { eventually } from "../harness/index.ts";
import type { PatchServer } from "./patch-servers.ts";
import { textOf } from "./written-fields.ts";

export type OperatorAccount = {
  readonly client: KubeClient;
  /** "METHOD PATH" of every request that was answered with 403. */
  readonly refused: readonly string[];
};

/** Applies the roles of `lattice rbac`, and returns a client of their ServiceAccount. */
export async function operatorAccount(server: PatchServer, home: string): Promise<OperatorAccount> {
  for (const object of operatorRbac(home)) await apply(server, object);
  const token = await tokenOf(server, home);
  const refused: string[] = [];
  const client = await clientOf(tokenKubeconfig(server, token), (transport) => recording(transport, refused));
  return { client, refused };
}

const KINDS = [namespaces, serviceAccounts, roles, roleBindings, clusterRoles, clusterRoleBindings];

async function apply(server: PatchServer, object: KubeObject): Promise<void> {
  const resource = KINDS.find(({ kind }) => kind === object.kind);
  if (resource === undefined) throw new Error(`lattice rbac prints a ${object.kind}, which this story cannot apply`);
  const path = `${pathOf(resource, object.metadata)}?fieldManager=installer&force=true`;
  const { code, text } = await server.request({ method: "PATCH", path, body: object, contentType: "application/apply-patch+yaml" });
  if (code !== 200 && code !== 201) throw new Error(text);
}

/** Resolves when the API server has read the roles, which is soon after they were written. */
async function tokenOf(server: PatchServer, home: string): Promise<string> {
  const path = pathOf(serviceAccounts, { namespace: home, name: OPERATOR_NAME, subresource: "token" });
  const token = textOf(fieldAt((await server.request({ method: "POST", path, body: {} })).json(), "status", "token"));
  const endpoint = { url: server.url, caPem: server.caPem, token: sensitive(token) };
  for (const readable of [pathOf(deployments), pathOf(configMaps, { namespace: home })]) {
    await eventually(`the operator may read ${readable}`, async () => {
      const { code } = await send(endpoint, { path: `${readable}?limit=1` });
      return code === 200 || undefined;
    });
  }
  return token;
}

function recording(transport: Transport, refused: string[]): Transport {
  return {
    async send(request, signal) {
      const answer = await transport.send(request, signal);
      if (answer.ok && answer.value.code === 403) refused.push(`${request.method} ${request.path}`);
      return answer;
    },
    close: () => transport.close(),
  };
}
