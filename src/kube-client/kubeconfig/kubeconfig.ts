/**
 * A kubeconfig as data: the content of the file, with secrets wrapped and paths made absolute.
 *
 * Only the fields that Lattice reads are checked; others are ignored, because kubeconfigs contain settings of many tools. Unsupported
 * settings (basic authentication, insecure TLS) are refused for the context in use, not for the whole file.
 */
import { dirname, resolve } from "node:path";
import { err, ok, sensitive, type Result, type Sensitive } from "#base";
import { field, isJsonObject, parseYaml, type Json } from "#kube";
import type { Impersonation } from "../cluster-config.ts";
import { fieldReader, type FieldReader } from "./field-reader.ts";

export type KubeconfigErrorKind = "not-found" | "unreadable" | "malformed" | "unknown-context" | "incomplete" | "unsupported" | "insecure";
export type KubeconfigError = { readonly kind: KubeconfigErrorKind; readonly message: string };

/** Inline data overrides a file, as in kubectl. */
export type PemSource<T> = { readonly data: T } | { readonly file: string };

export type KubeconfigCluster = {
  readonly server?: string | undefined;
  readonly certificateAuthority?: PemSource<string> | undefined;
  readonly serverName?: string | undefined;
  readonly insecureSkipVerify: boolean;
  readonly proxyUrl?: string | undefined;
  /** The part of the cluster that credential plugins get. */
  readonly execConfig?: Json | undefined;
};

export type ExecConfig = {
  readonly apiVersion?: string | undefined;
  readonly command: string;
  readonly args: readonly string[];
  readonly env: ReadonlyMap<string, string>;
  readonly installHint?: string | undefined;
  readonly provideClusterInfo: boolean;
  readonly interactiveMode?: string | undefined;
};

export type KubeconfigUser = {
  readonly token?: Sensitive<string> | undefined;
  readonly tokenFile?: string | undefined;
  readonly certificate?: PemSource<string> | undefined;
  readonly key?: PemSource<Sensitive<string>> | undefined;
  readonly exec?: ExecConfig | undefined;
  readonly hasPassword: boolean;
  readonly authProvider?: string | undefined;
  readonly impersonate?: Impersonation | undefined;
};

export type KubeconfigContext = {
  readonly cluster?: string | undefined;
  readonly user?: string | undefined;
  readonly namespace?: string | undefined;
};

/** An entry and its file, for messages. */
export type EntryInFile<T> = { readonly file: string; readonly value: T };

export type Kubeconfig = {
  readonly currentContext?: string | undefined;
  readonly clusters: ReadonlyMap<string, EntryInFile<KubeconfigCluster>>;
  readonly users: ReadonlyMap<string, EntryInFile<KubeconfigUser>>;
  readonly contexts: ReadonlyMap<string, EntryInFile<KubeconfigContext>>;
};

/** `file` is the path of the text: messages name it, and relative paths are resolved in its folder. */
export function parseKubeconfig(text: string, file = "kubeconfig"): Result<Kubeconfig, KubeconfigError> {
  const documents = parseYaml(text);
  if (!documents.ok) {
    const at = documents.error.line === undefined ? "" : ` (line ${documents.error.line})`;
    return malformed(file, [`${documents.error.message}${at}`]);
  }
  const [document = {}, ...more] = documents.value;
  if (more.length > 0 || !isJsonObject(document))
    return malformed(file, ["a kubeconfig is one YAML document with clusters, users and contexts"]);
  const faults: string[] = [];
  const top = fieldReader(document, "", faults);
  const entries = <T>(list: string, item: string, read: (reader: FieldReader) => T): ReadonlyMap<string, EntryInFile<T>> =>
    readEntries(document, { list, item, file, faults }, read);
  const config: Kubeconfig = {
    currentContext: top.text("current-context"),
    clusters: entries("clusters", "cluster", (reader) => readCluster(reader, file)),
    users: entries("users", "user", (reader) => readUser(reader, file)),
    contexts: entries("contexts", "context", readContext),
  };
  return faults.length === 0 ? ok(config) : malformed(file, faults);
}

type EntryList = { readonly list: string; readonly item: string; readonly file: string; readonly faults: string[] };

function readEntries<T>(document: Json, at: EntryList, read: (reader: FieldReader) => T): ReadonlyMap<string, EntryInFile<T>> {
  const entries = new Map<string, EntryInFile<T>>();
  const raw = field(document, at.list) ?? [];
  if (!Array.isArray(raw)) at.faults.push(`${at.list} must be a list`);
  for (const entry of Array.isArray(raw) ? (raw as readonly Json[]) : []) {
    const name = field(entry, "name");
    if (typeof name !== "string" || name === "") at.faults.push(`every entry of ${at.list} needs a name`);
    else if (entries.has(name)) at.faults.push(`${at.list} has two entries named "${name}"`);
    else entries.set(name, { file: at.file, value: read(fieldReader(field(entry, at.item) ?? {}, `${at.item} "${name}": `, at.faults)) });
  }
  return entries;
}

function readCluster(reader: FieldReader, file: string): KubeconfigCluster {
  return {
    server: reader.text("server"),
    certificateAuthority: pemSource(reader, "certificate-authority", file, (pem) => pem),
    serverName: reader.text("tls-server-name"),
    insecureSkipVerify: reader.flag("insecure-skip-tls-verify"),
    proxyUrl: reader.text("proxy-url"),
    execConfig: reader.items("extensions").find((item) => field(item, "name") === "client.authentication.k8s.io/exec"),
  };
}

function readContext(reader: FieldReader): KubeconfigContext {
  return { cluster: reader.text("cluster"), user: reader.text("user"), namespace: reader.text("namespace") };
}

function readUser(reader: FieldReader, file: string): KubeconfigUser {
  const token = reader.text("token");
  const provider = reader.object("auth-provider");
  return {
    token: token === undefined ? undefined : sensitive(token),
    tokenFile: reader.path("tokenFile", file),
    certificate: pemSource(reader, "client-certificate", file, (pem) => pem),
    key: pemSource(reader, "client-key", file, sensitive),
    exec: readExec(reader.object("exec"), file),
    hasPassword: reader.text("username") !== undefined || reader.text("password") !== undefined,
    authProvider: provider === undefined ? undefined : (provider.text("name") ?? "unnamed"),
    impersonate: readImpersonation(reader),
  };
}

function pemSource<T>(reader: FieldReader, name: string, file: string, wrap: (pem: string) => T): PemSource<T> | undefined {
  const data = reader.base64Pem(`${name}-data`);
  if (data !== undefined) return { data: wrap(data) };
  const path = reader.path(name, file);
  return path === undefined ? undefined : { file: path };
}

function readExec(reader: FieldReader | undefined, file: string): ExecConfig | undefined {
  if (reader === undefined) return undefined;
  const command = reader.text("command") ?? "";
  if (command === "") reader.fault("exec needs a command");
  const env = reader.objects("env").map((item) => [item.text("name") ?? "", item.text("value") ?? ""] as const);
  return {
    apiVersion: reader.text("apiVersion"),
    // a name is looked up in PATH, a path is relative to the kubeconfig's folder
    command: command.includes("/") ? resolve(dirname(file), command) : command,
    args: reader.texts("args"),
    env: new Map(env.filter(([name]) => name !== "")),
    installHint: reader.text("installHint"),
    provideClusterInfo: reader.flag("provideClusterInfo"),
    interactiveMode: reader.text("interactiveMode"),
  };
}

function readImpersonation(reader: FieldReader): Impersonation | undefined {
  const user = reader.text("as");
  const groups = reader.texts("as-groups");
  const uid = reader.text("as-uid");
  if (user === undefined) {
    if (groups.length > 0 || uid !== undefined) reader.fault("as-groups and as-uid need as");
    return undefined;
  }
  const extra = Object.entries(reader.map("as-user-extra")).map(
    ([key, values]) => [key, Array.isArray(values) ? values.map(String) : []] as const,
  );
  return { user, uid, groups, extra: new Map(extra) };
}

function malformed(file: string, faults: readonly string[]): Result<never, KubeconfigError> {
  return err({ kind: "malformed", message: `${file}: ${faults.join("; ")}` });
}
