/**
 * Loads documents into a world: Lattice's kinds, Score files, ConfigMaps that declare resource types, and Secrets.
 *
 * The namespace of a document is optional. A service without one gets the namespace of its environment, and its config and bindings get the
 * namespace of the service, so that a folder of files gives the same result on every machine.
 */
import { err, type Result, type Sensitive } from "#base";
import { LATTICE_API_VERSION, latticeKinds, parseLatticeObject, type LatticeObject, type LatticeService } from "#crds";
import { describeObject, field, fieldAt, isJsonObject, keyOf, keyText, type FieldStep, type Json, type KubeObject } from "#kube";
import { declaredProvisioner, type Provisioner, type Settings } from "#service-compiler";
import { describeCompose, isCompose } from "./compose/detect.ts";
import { inNamespaces, isPlacedByEnvironment, onTop, otherNamespaces, type Read } from "./document-places.ts";
import type { InvalidKind } from "./invalid-object.ts";
import { workloadFacts, type FindWorkload } from "./patch-target.ts";
import { describePlacementError, namespaceOfEnvironment } from "./placement.ts";
import { readPartially } from "./partial-documents.ts";
import { ImageChoice, type ANY_IMAGE, type ScoreImages } from "./score/images.ts";
import { isScore, parseScore, type ScoreOptions } from "./score.ts";
import { readSecrets, secretStore, type SecretUse } from "./secret-store.ts";
import type { FindObject } from "./object-access.ts";
import { worldSettings, type WorldSettings } from "./settings.ts";
import { World, type ServiceKey, type WorldObject } from "./world.ts";

/** One document of a file, parsed from YAML or JSON. */
export type WorldDocument = {
  readonly value: Json;
  /** Its name in messages: `api.yaml`, or `api.yaml (document 2)`. */
  readonly from: string;
  /** Read from a cluster: a document of a file for the same object replaces it. */
  readonly underneath?: boolean;
};

/** One mistake in a document. */
export type DocumentProblem = {
  readonly from: string;
  readonly path: string;
  readonly message: string;
  /** The field inside of `path` that is wrong, if known. */
  readonly field?: string;
};

/** How files that services name with `source` are found and read. */
export type SourceFiles = {
  /** The path of a file that a document names. */
  readonly locate: (source: string, from: string) => string;
  readonly read: (path: string) => Result<Uint8Array, string>;
};

/** Options for loading a world. */
export type WorldOptions = {
  readonly settings?: Partial<Settings>;
  /** The environment of services that name neither a namespace nor an environment. */
  readonly environment?: string;
  /** Images for containers of Score files whose image is "."; "any": images are not needed, and "." stays. */
  readonly images?: ScoreImages | typeof ANY_IMAGE;
  /** For documents that name none, as with `kubectl -n`; a document that names another is a mistake. Absent: see `fallbackNamespace`. */
  readonly namespace?: string;
  /** For documents without a namespace when neither their environment nor their service determines one; absent: `default`. */
  readonly fallbackNamespace?: string;
  /** By path, such as `postgres/main-db/password`; these take precedence over Secrets among the documents. */
  readonly secrets?: ReadonlyMap<string, Sensitive<string>>;
  /** A secret without a value gets a placeholder instead of an error. */
  readonly placeholderSecrets?: boolean;
  /** Objects that volumes refer to and that are not among the documents are assumed to be labelled shareable. */
  readonly assumeShareable?: boolean;
  /** The documents have every Deployment that a service patches; default: a Deployment that is not among them is assumed to exist. */
  readonly allDeployments?: boolean;
  /** Called for each secret that a service reads and that is in no Secret of the documents, when the world is compiled. */
  readonly onSecret?: (use: SecretUse) => void;
  readonly files?: SourceFiles;
  /**
   * The valid part of a document with mistakes is in the world too, so that compiling it finds further mistakes. For callers that use no
   * object of such a world while there are problems.
   */
  readonly partialDocuments?: boolean;
  /** Additional resource types; types that documents declare take precedence. */
  readonly provisioners?: readonly Provisioner[];
};

/** A world, and the problems of the documents that could not be loaded. */
export type LoadedWorld = {
  readonly world: World;
  readonly problems: readonly DocumentProblem[];
  /** By the key of a service: the document that it was read from. Documents of the cluster are not included. */
  readonly places: ReadonlyMap<ServiceKey, string>;
  /** Documents, by name: those of Lattice as they were read; undefined: of another kind, or not read. Items of a List are documents. */
  readonly documents: ReadonlyMap<string, LoadedDocument>;
  /** Documents that are Score files. */
  readonly scores: ReadonlySet<string>;
  /** Documents of which only the valid part is in the world: `partialDocuments`. */
  readonly incomplete: ReadonlySet<string>;
  /** Lattice's resources, Secrets, ConfigMaps and claims of the documents, each with its namespace. */
  readonly resources: readonly KubeObject[];
  /** Objects of other kinds, and objects that Lattice compiled. */
  readonly leftOut: readonly { readonly object: KubeObject; readonly from: string }[];
};

/** `within`: for an item of a List, the document of the file and the path of the item. */
export type LoadedDocument = {
  readonly value: Json;
  readonly within: { readonly from: string; readonly steps: readonly FieldStep[] };
  /** As in the file: its namespace may be absent. */
  readonly object: LatticeObject | undefined;
};

type Sorted = {
  readonly lattice: Read<LatticeObject>[];
  readonly provisioners: Provisioner[];
  readonly secrets: Read[];
  readonly mountable: Read[];
  readonly deployments: Read[];
  readonly problems: DocumentProblem[];
  readonly leftOut: Read[];
  /** Services of the cluster that cannot be parsed: they keep their names and declare nothing, as in the operator. */
  readonly invalid: { readonly kind: InvalidKind; readonly object: KubeObject }[];
  readonly scores: Set<string>;
  readonly incomplete: Set<string>;
};

/**
 * Loads documents into a world. Mistakes are collected, not thrown: a document that cannot be read does not hide the mistakes of
 * the next.
 *
 * @example
 * const { world, problems } = loadWorld([{ value: { apiVersion: "score.dev/v1b1", … }, from: "web.yaml" }]);
 * const { objects } = compileAll(world);
 */
export function loadWorld(documents: readonly WorldDocument[], options: WorldOptions = {}): LoadedWorld {
  const sorted: Sorted = {
    lattice: [],
    provisioners: [],
    secrets: [],
    mountable: [],
    deployments: [],
    problems: [],
    leftOut: [],
    invalid: [],
    scores: new Set(),
    incomplete: new Set(),
  };
  const items = documents.flatMap(itemsOf);
  const images = new ImageChoice(options.images);
  for (const document of items) sort(document, options, images, sorted);
  sorted.problems.push(...images.problems().map((message) => ({ from: "--image", path: "", message })));
  const namespaces = { chosen: options.namespace, fallback: options.fallbackNamespace ?? "default" };
  const placed = onTop(inNamespaces({ ...sorted, lattice: inOwnEnvironments(sorted) }, namespaces));
  const store = secretStore({
    given: options.secrets ?? new Map(),
    inObjects: readSecrets(placed.secrets),
    placeholders: options.placeholderSecrets === true,
    onSecret: options.onSecret,
  });
  const named = new Set<string>();
  const findObject = objectsIn([...placed.secrets, ...placed.mountable], options.assumeShareable === true);
  const findWorkload = workloadsIn(placed.deployments, options.allDeployments === true ? undefined : "assumed");
  const world = new World(settingsFor(options, { secrets: store, findObject, findWorkload }, named));
  world.setProvisioners([...(options.provisioners ?? []), ...sorted.provisioners]);
  const places = new Map<ServiceKey, string>();
  for (const { object, from, underneath } of inPuttingOrder(placed.lattice)) {
    if (isPlacedByEnvironment(object) && underneath !== true) places.set(keyText(keyOf(object)), from);
    world.put(underneath === true ? object : withSources(object, from, options.files, named));
  }
  for (const { kind, object } of sorted.invalid) if (!places.has(keyText(keyOf(object)))) world.putInvalid(kind, object);
  const problems = [
    ...sorted.problems,
    ...otherNamespaces(placed, options.namespace),
    ...twice(placed.lattice),
    ...refusedEnvironments(world, placed.lattice),
  ];
  const { leftOut, scores, incomplete } = sorted;
  const resources = [...placed.lattice, ...placed.secrets, ...placed.mountable].flatMap(({ object, underneath }) =>
    underneath === true ? [] : [object],
  );
  return { world, problems, places, documents: namedDocuments(items, sorted.lattice), resources, scores, incomplete, leftOut };
}

/** Documents of the cluster are not reported. */
function refusedEnvironments(world: World, read: readonly Read<LatticeObject>[]): readonly DocumentProblem[] {
  return read.flatMap(({ object, from, underneath }): readonly DocumentProblem[] => {
    if (object.kind !== "LatticeEnvironment" || underneath === true) return [];
    const { name } = object.metadata;
    const namespace = namespaceOfEnvironment(name, object);
    const why = world.reservation(namespace);
    const gateway = world.gatewayProblem(name);
    return [
      ...(why === undefined
        ? []
        : [{ from, path: "spec.namespace", message: describePlacementError({ kind: "reserved-namespace", namespace, why }) }]),
      ...(gateway === undefined ? [] : [{ from, path: "spec.gatewayRef.namespace", message: gateway }]),
    ];
  });
}

/** A List is replaced by its items. */
function itemsOf(document: WorldDocument): readonly Item[] {
  const { value, from, ...rest } = document;
  const items = field(value, "kind") === "List" ? field(value, "items") : undefined;
  if (!Array.isArray(items)) return [{ ...document, within: { from, steps: [] } }];
  return items.map((item: Json, at) => ({
    value: item,
    from: `${from}, item ${at + 1}`,
    ...rest,
    within: { from, steps: ["items", at] },
  }));
}

type Item = WorldDocument & Pick<LoadedDocument, "within">;

/** Documents of the cluster are not reported. */
function namedDocuments(items: readonly Item[], read: readonly Read<LatticeObject>[]): ReadonlyMap<string, LoadedDocument> {
  const objects = new Map(read.flatMap(({ from, object, underneath }) => (underneath === true ? [] : [[from, object] as const])));
  const above = items.filter(({ underneath }) => underneath !== true);
  return new Map(above.map(({ from, value, within }) => [from, { value, within, object: objects.get(from) }]));
}

/** Services without a namespace and an environment get the environment of the options. */
function inEnvironment<T extends LatticeObject>(object: T, { environment }: WorldOptions, underneath: boolean): T {
  if (environment === undefined || underneath || !isPlacedByEnvironment(object) || object.metadata.namespace !== undefined) return object;
  return "environment" in object.spec && object.spec.environment !== undefined
    ? object
    : { ...object, spec: { environment, ...object.spec } };
}

/** A Score file without an environment gets the only environment that is declared in its folder. */
function inOwnEnvironments({ lattice, scores }: Sorted): readonly Read<LatticeObject>[] {
  if (scores.size === 0) return lattice;
  const folders = Map.groupBy(
    lattice.filter(({ object, underneath }) => object.kind === "LatticeEnvironment" && underneath !== true),
    ({ from }) => folderOf(from),
  );
  return lattice.map((read) => {
    const [only, ...others] = scores.has(read.from) ? (folders.get(folderOf(read.from)) ?? []) : [];
    if (only === undefined || others.length > 0) return read;
    return { ...read, object: inEnvironment(read.object, { environment: only.object.metadata.name }, false) };
  });
}

/** `shop/a.yaml (document 2)` is in `shop/`. */
function folderOf(from: string): string {
  return from.replace(/(?:, item \d+| \(document \d+\))*$/, "").replace(/[^/]*$/, "");
}

function sort(document: WorldDocument, options: WorldOptions, images: ImageChoice, sorted: Sorted): void {
  const { value, from, underneath } = document;
  const read = { from, ...(underneath === undefined ? {} : { underneath }) };
  if (!isScore(value) && isForeign(value)) return sortForeign(document, sorted);
  if (isCompose(value)) return void sorted.problems.push({ from, path: "", message: describeCompose(value, from) });
  const score = scoreOptions(document, options, images);
  if (isScore(value)) sorted.scores.add(from);
  const parsed: Result<LatticeObject, readonly Pick<DocumentProblem, "path" | "message">[]> = isScore(value)
    ? parseScore(value, score)
    : parseLatticeObject(value);
  if (parsed.ok) return void sorted.lattice.push({ object: inEnvironment(parsed.value, options, underneath === true), ...read });
  // errors of the cluster's resources are not errors of the files
  if (underneath === true) return void sorted.invalid.push(...invalidIn(value));
  for (const { path, message } of parsed.error) sorted.problems.push({ from, path, message });
  if (options.partialDocuments !== true) return;
  const paths = parsed.error.map(({ path }) => path);
  const object = readPartially(value, paths, { name: `unnamed-${sorted.incomplete.size}`, score });
  sorted.incomplete.add(from);
  if (object !== undefined) sorted.lattice.push({ object: inEnvironment(object, options, false), ...read });
}

function scoreOptions({ from }: WorldDocument, { files }: WorldOptions, images: ImageChoice): ScoreOptions {
  const image = (workload: string, container: string) => images.find(workload, container);
  return files === undefined ? { image } : { image, readFile: (source) => files.read(files.locate(source, from)) };
}

function invalidIn(value: Json): Sorted["invalid"] {
  const [kind, name] = [field(value, "kind"), fieldAt(value, "metadata", "name")];
  if ((kind !== "LatticeService" && kind !== "LatticeExternalService") || typeof name !== "string") return [];
  return [{ kind, object: value as unknown as KubeObject }];
}

/**
 * Whether a document's kind is not a Lattice kind. A Lattice kind with a wrong version counts as one, and is an error.
 *
 * @example isForeign({ apiVersion: "v1", kind: "Secret", metadata: { name: "stripe" } }) // true
 */
export function isForeign(value: Json): boolean {
  const [apiVersion, kind] = [field(value, "apiVersion"), field(value, "kind")];
  if (typeof apiVersion !== "string" || typeof kind !== "string") return false;
  const group = LATTICE_API_VERSION.split("/")[0] ?? "";
  return !apiVersion.startsWith(`${group}/`) && !latticeKinds.some((known) => known.kind === kind);
}

function sortForeign({ value, ...read }: WorldDocument, sorted: Sorted): void {
  const { provisioners, secrets, mountable, deployments, problems, leftOut } = sorted;
  const { from, underneath } = read;
  const name = field(field(value, "metadata"), "name");
  if (typeof name !== "string") return void problems.push({ from, path: "metadata.name", message: "is required" });
  const object = value as unknown as KubeObject;
  if (isCompiled(object)) return void leftOut.push({ object, ...read });
  if (object.kind === "Secret" && object.apiVersion === "v1") return void secrets.push({ object, ...read });
  if (object.kind === "Deployment" && object.apiVersion === "apps/v1") deployments.push({ object, ...read });
  if (object.apiVersion === "v1" && MOUNTABLE.has(object.kind)) mountable.push({ object, ...read });
  const declared = declaredProvisioner(object);
  if (declared?.ok === true) provisioners.push(declared.value);
  else if (declared?.ok === false && underneath !== true) problems.push({ from, path: "data", message: declared.error });
  else leftOut.push({ object, ...read });
}

const MOUNTABLE: ReadonlySet<string> = new Set(["ConfigMap", "PersistentVolumeClaim"]);

function objectsIn(documents: readonly Read[], assumeShareable: boolean): FindObject {
  const known = new Map(documents.map(({ object }) => [describeObject(object), object]));
  return (kind, namespace, name) => {
    const labels = known.get(`${kind} ${namespace}/${name}`)?.metadata;
    if (labels === undefined) return assumeShareable ? "assumed" : undefined;
    return { labels: isJsonObject(labels.labels) ? labels.labels : {}, madeFor: undefined };
  };
}

function workloadsIn(documents: readonly Read[], absent: "assumed" | undefined): FindWorkload {
  const known = new Map(documents.map(({ object }) => [keyText(keyOf(object)), workloadFacts(object)]));
  return (namespace, name) => known.get(keyText({ namespace, name })) ?? absent;
}

/**
 * Whether an object is one that Lattice compiled: by its label.
 *
 * @example isCompiled({ apiVersion: "v1", kind: "Secret", metadata: { name: "a", labels: { "app.kubernetes.io/managed-by": "lattice" } } }) // true
 */
export function isCompiled({ metadata }: KubeObject): boolean {
  return isJsonObject(metadata.labels) && metadata.labels["app.kubernetes.io/managed-by"] === "lattice";
}

/** Only files that a document of a file names: a resource of a cluster must not cause local files to be read. */
function settingsFor(
  { settings, files }: WorldOptions,
  ports: Pick<WorldSettings, "secrets" | "findObject" | "findWorkload">,
  named: ReadonlySet<string>,
) {
  if (files === undefined) return worldSettings(settings, ports);
  const readFile = (path: string) => (named.has(path) ? files.read(path) : err(`${path} cannot be read: a cluster has no files`));
  return worldSettings(settings, { ...ports, readFile });
}

const ORDER: readonly WorldObject["kind"][] = [
  "LatticeEnvironment",
  "LatticeServiceConfig",
  "LatticeSecretBindings",
  "LatticeExternalService",
  "LatticeService",
];

function isOfWorld(read: Read<LatticeObject>): read is Read<WorldObject> {
  return ORDER.some((kind) => kind === read.object.kind);
}

/** Resources that others depend on come first, so that nothing is compiled twice. */
function inPuttingOrder(read: readonly Read<LatticeObject>[]): readonly Read<WorldObject>[] {
  return read.filter(isOfWorld).toSorted((a, b) => ORDER.indexOf(a.object.kind) - ORDER.indexOf(b.object.kind));
}

/** Files are named relative to the document that names them. */
function withSources(object: WorldObject, from: string, files: SourceFiles | undefined, named: Set<string>): WorldObject {
  if (object.kind !== "LatticeService" || files === undefined || object.spec.containers === undefined) return object;
  type Containers = NonNullable<LatticeService["spec"]["containers"]>;
  const locate = (source: string) => {
    const path = files.locate(source, from);
    named.add(path);
    return path;
  };
  const containers: Containers = Object.fromEntries(
    Object.entries(object.spec.containers).map(([name, container]) => {
      if (container.files === undefined) return [name, container];
      const located = Object.entries(container.files).map(
        ([path, file]) => [path, file.source === undefined ? file : { ...file, source: locate(file.source) }] as const,
      );
      return [name, { ...container, files: Object.fromEntries(located) }];
    }),
  );
  return { ...object, spec: { ...object.spec, containers } };
}

function twice(read: readonly Read<LatticeObject>[]): readonly DocumentProblem[] {
  const first = new Map<string, string>();
  return read.flatMap(({ object, from }) => {
    const name = describeObject(object);
    const before = first.get(name);
    first.set(name, before ?? from);
    return before === undefined ? [] : [{ from, path: "metadata.name", message: `${name} is in ${before} as well; remove one of them` }];
  });
}
