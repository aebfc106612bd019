/**
 * Secret `<cluster>-kubeconfig` of a cluster that owns itself: how Cluster API reaches the cluster that it runs in.
 *
 * The parent's copy leads through the parent's cell, so it is of no use here. The address is the one that the operator itself uses, and the token is of an
 * account that has the permissions of Cluster API and no others. It is renewed at half of its life.
 */
import { base64OfText, err, millisecondsOf, ok, reveal, sensitive, sha256Hex, type Clock, type Result, type Sensitive } from "#base";
import { capiNamespace, CLUSTER_NAME_LABEL } from "#cluster-compiler";
import { FIELD_MANAGER, type FailureCause } from "#controller-runtime";
import { defineResource, fieldAt, formatYaml, secrets, type KubeObject } from "#kube";
import type { KubeWriter } from "#kube-client";
import { timeText } from "./agent-status.ts";
import { KUBECONFIG_ANNOTATION, type ChildSecret } from "./child-secrets.ts";
import { CLUSTER_API_ACCOUNT, kubeconfigSecretOf } from "./names.ts";

/** The API server of this cluster, as its operator reaches it. */
export type OwnApiServer = {
  readonly url: string;
  /** PEM; empty: the authorities of the system. */
  readonly ca: string;
};

/** When the token expires, and when it is renewed. */
const EXPIRES_ANNOTATION = "lattice.dev/token-expires";
const RENEW_ANNOTATION = "lattice.dev/token-renew-after";

/** Of the token; an API server may give it a shorter life. Cluster API works on for at least half of it while the operator does not run. */
const TOKEN_SECONDS = 90 * 86_400;

type TokenRequest = KubeObject & { readonly spec: { readonly expirationSeconds: number } };
const tokenRequests = defineResource<TokenRequest>({
  group: "",
  version: "v1",
  kind: "TokenRequest",
  plural: `serviceaccounts/${CLUSTER_API_ACCOUNT}/token`,
  namespaced: true,
});

type IssuedToken = { readonly token: Sensitive<string>; readonly issuedAt: number; readonly expiresAt: number };

/** Whether the Secret leads to another server, or its token should be renewed. Its metadata is enough. */
export function isKubeconfigDue(secret: KubeObject | undefined, server: OwnApiServer, now: number): boolean {
  const { [KUBECONFIG_ANNOTATION]: of, [RENEW_ANNOTATION]: renewAt = "" } = secret?.metadata.annotations ?? {};
  return of !== digestOf(server) || !(now < millisecondsOf(renewAt));
}

export function ownKubeconfigSecret(cluster: string, server: OwnApiServer, { token, issuedAt, expiresAt }: IssuedToken): ChildSecret {
  const metadata = {
    name: kubeconfigSecretOf(cluster),
    namespace: capiNamespace(cluster),
    labels: { [CLUSTER_NAME_LABEL]: cluster },
    annotations: {
      [KUBECONFIG_ANNOTATION]: digestOf(server),
      [EXPIRES_ANNOTATION]: timeText(expiresAt),
      [RENEW_ANNOTATION]: timeText(issuedAt + (expiresAt - issuedAt) / 2),
    },
  };
  const value = base64OfText(kubeconfigText(cluster, server, reveal(token)));
  return { apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data: { value } };
}

export type WriteOwnKubeconfig = {
  readonly cluster: string;
  readonly server: OwnApiServer;
  /** The operator's namespace. */
  readonly home: string;
};

type Writing = { readonly client: KubeWriter; readonly clock: Clock; readonly signal: AbortSignal };

/** Returns when the new token expires. Its namespace must exist. */
export async function writeOwnKubeconfig(
  { cluster, server, home }: WriteOwnKubeconfig,
  { client, clock, signal }: Writing,
): Promise<Result<number, FailureCause>> {
  const issuedAt = clock.now();
  const request: TokenRequest = {
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    metadata: { name: CLUSTER_API_ACCOUNT, namespace: home },
    spec: { expirationSeconds: TOKEN_SECONDS },
  };
  const answer = await client.create(tokenRequests, request, { signal });
  if (!answer.ok) return answer;
  const issued = issuedToken(answer.value, issuedAt);
  if (!issued.ok) return issued;
  const secret = ownKubeconfigSecret(cluster, server, issued.value);
  const written = await client.apply<KubeObject>(secrets, secret, { fieldManager: FIELD_MANAGER, force: true, signal });
  return written.ok ? ok(issued.value.expiresAt) : written;
}

function issuedToken(response: KubeObject, issuedAt: number): Result<IssuedToken, FailureCause> {
  const [token, expires] = ["token", "expirationTimestamp"].map((name) => fieldAt(response, "status", name));
  const expiresAt = typeof expires === "string" ? millisecondsOf(expires) : Number.NaN;
  if (typeof token === "string" && token !== "" && Number.isFinite(expiresAt)) return ok({ token: sensitive(token), issuedAt, expiresAt });
  const message = `the API server returned no token for ServiceAccount ${CLUSTER_API_ACCOUNT}`;
  return err({ kind: "server-error", message });
}

function digestOf({ url, ca }: OwnApiServer): string {
  return sha256Hex(`${url}\n${ca}`).slice(0, 32);
}

/** The entry of `clusters` must have the name of the Cluster. */
function kubeconfigText(cluster: string, { url, ca }: OwnApiServer, token: string): string {
  return formatYaml({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: cluster, cluster: { server: url, ...(ca === "" ? {} : { "certificate-authority-data": base64OfText(ca) }) } }],
    users: [{ name: CLUSTER_API_ACCOUNT, user: { token } }],
    contexts: [{ name: cluster, context: { cluster, user: CLUSTER_API_ACCOUNT } }],
    "current-context": cluster,
  });
}
