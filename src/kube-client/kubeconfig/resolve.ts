/** Creates the ClusterConfig of one context of a kubeconfig. Unsupported settings are errors that name the file, the entry and the fix. */
import { err, mapErr, ok, sensitive, type Clock, type Result } from "#base";
import { parseServerUrl, staticCredentials, type ClientCertificate, type ClusterConfig, type Credentials } from "../cluster-config.ts";
import { execCredentials } from "./exec-plugin.ts";
import type { RunCommand } from "../credentials/run-command.ts";
import { tokenFileCredentials } from "../credentials/token-file.ts";
import type {
  Kubeconfig,
  KubeconfigCluster,
  KubeconfigError,
  KubeconfigErrorKind,
  KubeconfigUser,
  PemSource,
  EntryInFile,
} from "./kubeconfig.ts";
import { readText, type ReadFile } from "../read-text.ts";

export type ResolveOptions = {
  readonly context?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly readFile?: ReadFile;
  readonly runCommand?: RunCommand;
  readonly interactive?: boolean;
};

export async function resolveContext(config: Kubeconfig, options: ResolveOptions): Promise<Result<ClusterConfig, KubeconfigError>> {
  const name = options.context ?? config.currentContext;
  if (name === undefined)
    return refuse("unknown-context", "", "there is no current-context; run `kubectl config use-context NAME` or pass --context");
  const context = config.contexts.get(name);
  if (context === undefined) return refuse("unknown-context", "", `there is no context "${name}"; known: ${known(config.contexts)}`);
  const at = `${context.file}: context "${name}": `;
  const { cluster: clusterName = "", user: userName, namespace } = context.value;
  const cluster = config.clusters.get(clusterName);
  if (cluster === undefined) return refuse("incomplete", at, `there is no cluster "${clusterName}"; known: ${known(config.clusters)}`);
  const user = userName === undefined ? undefined : config.users.get(userName);
  if (userName !== undefined && user === undefined) {
    return refuse("incomplete", at, `there is no user "${userName}"; known: ${known(config.users)}`);
  }
  const server = await resolveCluster(`${cluster.file}: cluster "${clusterName}": `, cluster.value, options);
  if (!server.ok) return server;
  const credentials = await resolveUser(userName ?? "", user, { ...options, cluster: cluster.value, server: server.value });
  return credentials.ok
    ? ok({ ...server.value, credentials: credentials.value, impersonate: user?.value.impersonate, namespace })
    : credentials;
}

type Server = Pick<ClusterConfig, "server" | "certificateAuthority" | "serverName">;

async function resolveCluster(at: string, cluster: KubeconfigCluster, options: ResolveOptions): Promise<Result<Server, KubeconfigError>> {
  if (cluster.server === undefined) return refuse("incomplete", at, "it has no server; write its https:// address");
  if (cluster.insecureSkipVerify) {
    return refuse(
      "insecure",
      at,
      "insecure-skip-tls-verify is refused: the token would be sent to an unverified server; put the cluster's CA into certificate-authority-data (and, if its certificate has another name, that name into tls-server-name)",
    );
  }
  if (cluster.proxyUrl !== undefined) {
    return refuse("unsupported", at, "proxy-url is not supported; remove it and use a server address that is reachable directly");
  }
  const server = mapErr(parseServerUrl(cluster.server), (fault): KubeconfigError => ({ kind: "malformed", message: `${at}${fault}` }));
  if (!server.ok) return server;
  const authority = await pemOf(at, "certificate-authority", cluster.certificateAuthority, options);
  if (!authority.ok) return authority;
  return ok({ server: server.value, certificateAuthority: authority.value, serverName: cluster.serverName });
}

type UserOptions = ResolveOptions & { readonly cluster: KubeconfigCluster; readonly server: Server };

async function resolveUser(
  name: string,
  placed: EntryInFile<KubeconfigUser> | undefined,
  options: UserOptions,
): Promise<Result<Credentials, KubeconfigError>> {
  if (placed === undefined) return ok(staticCredentials({}));
  const { file, value: user } = placed;
  const at = `${file}: user "${name}": `;
  if (user.hasPassword) {
    return refuse(
      "unsupported",
      at,
      "Kubernetes has had no user names and passwords since 1.19; use a token, a client certificate or an exec plugin",
    );
  }
  if (user.authProvider !== undefined) {
    return refuse(
      "unsupported",
      at,
      `the auth-provider "${user.authProvider}" was removed from Kubernetes in 1.26; use the exec plugin that replaced it`,
    );
  }
  const certificate = await certificateOf(at, user, options);
  if (!certificate.ok) return certificate;
  if (user.tokenFile !== undefined) {
    const { tokenFile: path, token: fallback } = user;
    return ok(tokenFileCredentials({ path, fallback, certificate: certificate.value, clock: options.clock, readFile: options.readFile }));
  }
  // a token or certificate of the user entry overrides a plugin, as in kubectl
  if (user.exec === undefined || user.token !== undefined)
    return ok(staticCredentials({ token: user.token, certificate: certificate.value }));
  const plugin = execCredentials({ ...options, at, exec: user.exec, certificate: certificate.value });
  return mapErr(plugin, (fault): KubeconfigError => ({ kind: "unsupported", message: `${at}${fault}` }));
}

async function certificateOf(
  at: string,
  user: KubeconfigUser,
  options: ResolveOptions,
): Promise<Result<ClientCertificate | undefined, KubeconfigError>> {
  if ((user.certificate === undefined) !== (user.key === undefined)) {
    const [has, needs] = user.key === undefined ? ["client-certificate", "client-key"] : ["client-key", "client-certificate"];
    return refuse("incomplete", at, `${has} needs ${needs}`);
  }
  const certificate = await pemOf(at, "client-certificate", user.certificate, options);
  if (!certificate.ok) return certificate;
  const key = await keyOf(at, user.key, options);
  if (!key.ok) return key;
  if (certificate.value === undefined || key.value === undefined) return ok(undefined);
  return ok({ certificate: certificate.value, key: key.value });
}

async function keyOf(at: string, source: KubeconfigUser["key"], options: ResolveOptions) {
  if (source === undefined || "data" in source) return ok(source?.data);
  const pem = await pemOf(at, "client-key", source, options);
  return pem.ok ? ok(pem.value === undefined ? undefined : sensitive(pem.value)) : pem;
}

async function pemOf(
  at: string,
  name: string,
  source: PemSource<string> | undefined,
  options: ResolveOptions,
): Promise<Result<string | undefined, KubeconfigError>> {
  if (source === undefined) return ok(undefined);
  if ("data" in source) return ok(source.data);
  const text = await readText(source.file, options.readFile);
  if (!text.ok) return refuse(text.error.kind, at, `${name}: ${text.error.message}`);
  return text.value.includes("-----BEGIN ") ? text : refuse("malformed", at, `${name}: ${source.file} is not PEM`);
}

function known(names: ReadonlyMap<string, unknown>): string {
  return names.size === 0 ? "none" : [...names.keys()].toSorted().join(", ");
}

function refuse(kind: KubeconfigErrorKind, at: string, message: string): Result<never, KubeconfigError> {
  return err({ kind, message: `${at}${message}` });
}
