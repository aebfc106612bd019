/**
 * The resources of `-f` files, for every command that compiles: `source` files are read from the folder of the service file, secrets as the
 * flags configure.
 */
import { resolve } from "node:path";
import { describeThrown, err, fromPromise, ok, sensitive, type Result, type Sensitive } from "#base";
import {
  ANY_IMAGE,
  DEFAULT_SETTINGS,
  loadWorld,
  type DocumentProblem,
  type LoadedWorld,
  type SecretUse,
  type ScoreImages,
  type WorldDocument,
} from "#compile";
import { isJsonObject, parseDnsLabel, parseDnsSubdomain, parseNamespace, parseYaml } from "#kube";
import type { Settings } from "#service-compiler";
import type { CliIo } from "./io.ts";
import { fileText, locator, type Locate } from "./located-problems.ts";
import { MAX_SMALL_FILE, readRegularText } from "./regular-file.ts";
import { readResourceFiles } from "./resource-files.ts";
import { sourceFiles } from "./source-files.ts";

/** Flags of every command that compiles. */
export type WorldFlags = {
  readonly filename?: readonly string[];
  readonly namespace?: string;
  readonly environment?: string;
  readonly image?: readonly string[];
  /** Not a flag: the namespace of the kubeconfig's context. */
  readonly fallbackNamespace?: string;
  /** Not a flag: called for each secret that no Secret of the files contains. */
  readonly onSecret?: (use: SecretUse) => void;
  readonly clusterDomain?: string;
  readonly trustDomain?: string;
  readonly ingressDomain?: string;
  readonly gateway?: string;
  readonly monitoringNamespace?: string;
  readonly clusterName?: string;
  readonly clusterProvider?: string;
  readonly clusterRegion?: string;
};

/** `partialDocuments`: see `loadWorld`. */
type ReadOptions = WorldFlags & SecretFlags & { readonly partialDocuments?: boolean };

export type SecretFlags = {
  readonly secrets?: string;
  readonly placeholderSecrets?: boolean;
  readonly assumeShareable?: boolean;
  /** Images are not needed: a Score file may leave them to a build. */
  readonly anyImage?: boolean;
};

export type FilesWorld = LoadedWorld & {
  /** Where in the files a problem is. */
  readonly locate: Locate;
  /** Some files could not be read, so that a command has no reliable result. */
  readonly unreadable: boolean;
};

/** The error is an invalid flag. Problems of files are in `problems`. */
export async function readWorld(
  io: CliIo,
  paths: readonly string[],
  flags: ReadOptions,
  underneath: readonly WorldDocument[] = [],
): Promise<Result<FilesWorld, string>> {
  const settings = settingsOf(flags);
  if (!settings.ok) return settings;
  const secrets = flags.secrets === undefined ? ok(new Map<string, Sensitive<string>>()) : await readSecretsFile(io, flags.secrets);
  if (!secrets.ok) return secrets;
  const images = imagesOf(flags.image);
  if (!images.ok) return images;
  const { documents: read, problems } = await readResourceFiles(io, paths);
  const named = read.map((document) => ({ ...document, from: nameOf(document.file, document.index) }));
  const files = new Map(named.map(({ from, file }) => [from, file]));
  const documents = named.map(({ value, from }): WorldDocument => ({ value, from }));
  const loaded = loadWorld([...underneath.map((document) => ({ ...document, underneath: true })), ...documents], {
    settings: settings.value,
    ...(flags.namespace === undefined ? {} : { namespace: flags.namespace }),
    ...(flags.environment === undefined ? {} : { environment: flags.environment }),
    images: flags.anyImage === true ? ANY_IMAGE : images.value,
    ...(flags.fallbackNamespace === undefined ? {} : { fallbackNamespace: flags.fallbackNamespace }),
    secrets: secrets.value,
    ...(flags.onSecret === undefined ? {} : { onSecret: flags.onSecret }),
    placeholderSecrets: flags.placeholderSecrets === true,
    assumeShareable: flags.assumeShareable === true,
    allDeployments: underneath.length > 0,
    partialDocuments: flags.partialDocuments === true,
    files: sourceFiles(io.cwd, (from) => files.get(from) ?? from),
  });
  const unread = problems.map((problem): DocumentProblem => ({ from: fileText(problem), path: "", message: problem.message }));
  const locate = locator({ files: named, problems, documents: loaded.documents });
  return ok({
    ...loaded,
    problems: [...unread, ...loaded.problems],
    locate,
    unreadable: problems.some((problem) => problem.unreadable === true),
  });
}

function nameOf(file: string, index: number): string {
  return index === 1 ? file : `${file} (document ${index})`;
}

export function settingsOf(flags: WorldFlags): Result<Settings, string> {
  const { clusterName, clusterProvider, clusterRegion } = flags;
  const gateway = flags.gateway === undefined ? ok(DEFAULT_SETTINGS.gateway) : parseGateway(flags.gateway);
  if (!gateway.ok) return gateway;
  // a name that is not valid in a selector would make whole policies invalid
  for (const { flag, value, parse } of namesIn(flags)) {
    const parsed = value === undefined ? ok("") : parse(value);
    if (!parsed.ok) return err(`${flag}: ${parsed.error}`);
  }
  return ok({
    ...DEFAULT_SETTINGS,
    ...(flags.clusterDomain === undefined ? {} : { clusterDomain: flags.clusterDomain }),
    ...(flags.trustDomain === undefined ? {} : { trustDomain: flags.trustDomain }),
    ...(flags.ingressDomain === undefined ? {} : { ingressDomain: flags.ingressDomain }),
    gateway: gateway.value,
    monitoring: flags.monitoringNamespace,
    cluster: { name: clusterName, provider: clusterProvider, region: clusterRegion },
  });
}

const IMAGE = /^(?:([a-z0-9-]+(?:\/[a-z0-9-]+)?)=)?([^\s=]+)$/;

/** `IMAGE`, `WORKLOAD=IMAGE` or `WORKLOAD/CONTAINER=IMAGE`. */
function imagesOf(given: readonly string[] = []): Result<ScoreImages, string> {
  let only: string | undefined;
  const byName = new Map<string, string>();
  for (const text of given) {
    const [, name, image] = IMAGE.exec(text) ?? [];
    if (image === undefined) return err(`--image is ${JSON.stringify(text)}; it must be IMAGE, WORKLOAD=IMAGE or WORKLOAD/CONTAINER=IMAGE`);
    if (name !== undefined) byName.set(name, image);
    else if (only === undefined) only = image;
    else return err("--image is given twice without a name; write WORKLOAD=IMAGE");
  }
  return ok({ ...(only === undefined ? {} : { only }), byName });
}

function namesIn({ environment, namespace, clusterDomain, trustDomain, ingressDomain, monitoringNamespace }: WorldFlags) {
  return [
    { flag: "--namespace", value: namespace, parse: parseNamespace },
    { flag: "--environment", value: environment, parse: parseDnsLabel },
    { flag: "--cluster-domain", value: clusterDomain, parse: parseDnsSubdomain },
    { flag: "--trust-domain", value: trustDomain, parse: parseDnsSubdomain },
    { flag: "--ingress-domain", value: ingressDomain, parse: parseDnsSubdomain },
    { flag: "--monitoring-namespace", value: monitoringNamespace, parse: parseNamespace },
  ];
}

function parseGateway(text: string): Result<Settings["gateway"], string> {
  const [, namespace, name] = /^([^/]+)\/([^/]+)$/.exec(text) ?? [];
  return namespace === undefined || name === undefined || !parseNamespace(namespace).ok || !parseDnsLabel(name).ok
    ? err(`--gateway is ${JSON.stringify(text)}; it must be namespace/name, such as istio-ingress/gateway`)
    : ok({ namespace, name });
}

/** A map of path to value. Errors never quote its content. */
async function readSecretsFile(io: CliIo, path: string): Promise<Result<ReadonlyMap<string, Sensitive<string>>, string>> {
  const text =
    path === "-"
      ? await fromPromise(io.stdin(), describeThrown)
      : readRegularText(resolve(io.cwd, path), { bytes: MAX_SMALL_FILE, pipes: true });
  if (!text.ok) return err(`--secrets ${path}: ${text.error}`);
  const parsed = parseYaml(text.value);
  if (!parsed.ok) return err(`--secrets ${path} is not YAML${parsed.error.line === undefined ? "" : ` (line ${parsed.error.line})`}`);
  const [map = {}] = parsed.value;
  const wrong = isJsonObject(map) ? Object.keys(map).find((key) => typeof map[key] !== "string" || !key.includes("/")) : "";
  if (!isJsonObject(map) || wrong === "") return err(`--secrets ${path} must be a map, with lines such as "postgres/main-db/password: …"`);
  if (wrong !== undefined)
    return err(`--secrets ${path}: ${wrong} must be a path with a "/" in it, and its value a text (in quotes if it is a number)`);
  return ok(new Map(Object.entries(map).map(([key, value]) => [key, sensitive(typeof value === "string" ? value : "")])));
}
