/**
 * Renders the templates of a service: the variables, files and volumes of each container, and its resources.
 *
 * Only four fields are templates. A `${` anywhere else is kept as it is, with a warning, because it was probably meant as a template.
 */
import { err, ok } from "#base";
import type { LatticeService } from "#crds";
import { isJsonObject } from "#kube";
import { MOST_ERRORS, type CompileError, type Warning } from "../errors.ts";
import { sourceOf } from "../grants/index.ts";
import type { ServiceInput } from "../input.ts";
import {
  resolveResources,
  type Provisioned,
  type ResolvedResources,
  type ResourceResolution,
  type ResourceEntry,
} from "../provisioners/index.ts";
import {
  hasPlaceholders,
  literal,
  lookUp,
  renderText,
  secret,
  withNamespace,
  type Rendered,
  type TemplateScope,
  type TemplateProblem,
} from "../templates/index.ts";
import { renderFile, type RenderedFile } from "./render-file.ts";
import { scopeFor } from "./scope.ts";

export type ContainerSpec = NonNullable<LatticeService["spec"]["containers"]>[string];

export type RenderedVolume = { readonly source: Rendered; readonly path: string | undefined; readonly readOnly: boolean | undefined };

export type RenderedContainer = {
  readonly name: string;
  readonly spec: ContainerSpec;
  readonly variables: ReadonlyMap<string, Rendered>;
  readonly files: ReadonlyMap<string, RenderedFile>;
  readonly volumes: ReadonlyMap<string, RenderedVolume>;
};

export type RenderedService = {
  readonly containers: readonly RenderedContainer[];
  readonly provisioned: ReadonlyMap<string, Provisioned>;
  /** Number of expanded placeholders. */
  readonly resolved: number;
  readonly warnings: readonly Warning[];
};

/**
 * Resolves the resources of a service for the mesh. No Secret is read: every secret value is empty, because a
 * sensitive value cannot name a peer, a port or a route, and an edge must not close or stay open because a Secret is missing.
 */
export function resolveDeclarations(input: ServiceInput): ResourceResolution {
  const declared: ServiceInput = { ...input, secrets: () => ok("") };
  return resourcesOf(declared, scopeFor(declared)).finish();
}

function resourcesOf(input: ServiceInput, scope: TemplateScope): ResolvedResources {
  const { service, registry } = input;
  return resolveResources({
    entries: entriesOf(input),
    registry,
    surroundings: surroundingsOf(input, scope),
    scope,
    ownPorts: ownPortsOf(service),
  });
}

function ownPortsOf({ spec }: LatticeService): ReadonlyMap<string, number> {
  return new Map(Object.entries(spec.service?.ports ?? {}).map(([name, { port }]) => [name, port]));
}

/** Parts that could not be rendered are missing in `rendered` and have an error. */
export function renderService(input: ServiceInput): { readonly rendered: RenderedService; readonly errors: readonly CompileError[] } {
  const { service } = input;
  const scope = scopeFor(input);
  const resources = resourcesOf(input, scope);
  const all = withNamespace(scope, "resources", resources.namespace);
  const errors: CompileError[] = [];
  const containers = sorted(service.spec.containers).map(([name, spec]) => renderContainer(name, spec, { input, scope: all, errors }));
  const resolution = resources.finish();
  errors.push(...resolution.errors);
  const warnings = [...resolution.warnings, ...literalDollars(service.spec)];
  const rendered = { containers, provisioned: resolution.provisioned, resolved: countPlaceholders(containers), warnings };
  return { rendered, errors };
}

/** Types that have no peer, in any direction. */
const UNDIRECTED = new Set(["route", "volume", "dns", "environment"]);

/** `id` may include another namespace; the default is the namespace of the workload. */
export function entriesOf({ service, namespace }: Pick<ServiceInput, "service" | "namespace">): readonly ResourceEntry[] {
  return sorted(service.spec.resources).map(([name, { id = name, type, direction: written, class: variant, params }]) => {
    const direction = UNDIRECTED.has(type) ? "outbound" : written;
    const slash = id.indexOf("/");
    const address = slash < 0 ? { namespace, name: id } : { namespace: id.slice(0, slash), name: id.slice(slash + 1) };
    return { name, type, direction, address, class: variant, params: params as ResourceEntry["params"] };
  });
}

function surroundingsOf(input: ServiceInput, scope: TemplateScope) {
  const { service, settings, environment, namespace, secrets, findService, findExternalService, grants, routeHolder } = input;
  return {
    namespace,
    grants,
    routeHolder,
    clusterDomain: settings.clusterDomain,
    ingressDomain: environment?.spec.ingressDomain ?? settings.ingressDomain,
    findService,
    findExternalService,
    readConfig: (key: string) => {
      const found = lookUp(scope, ["config", ...key.split(".")]);
      return found.ok ? ok(found.value.value) : err(found.error.message);
    },
    readSecret: (path: string) => {
      const found = secrets(namespace, path, sourceOf(service));
      return found.ok ? ok(secret(found.value)) : found;
    },
  };
}

type Rendering = { readonly input: ServiceInput; readonly scope: TemplateScope; readonly errors: CompileError[] };

/** When the limit of listed mistakes is reached, the rest is not rendered. */
function isFull(errors: readonly CompileError[]): boolean {
  return errors.length > MOST_ERRORS;
}

function renderContainer(name: string, spec: ContainerSpec, rendering: Rendering): RenderedContainer {
  const { scope, errors } = rendering;
  const variables = new Map<string, Rendered>();
  for (const [variable, text] of sorted(spec.variables)) {
    if (isFull(errors)) break;
    const rendered = hasPlaceholders(text) ? renderText(text, scope) : ok(literal(text));
    if (rendered.ok) variables.set(variable, rendered.value);
    else for (const message of messagesOf(rendered.error)) errors.push({ kind: "template-variable", container: name, variable, message });
  }
  const files = new Map<string, RenderedFile>();
  for (const [path, file] of sorted(spec.files)) {
    if (isFull(errors)) break;
    const rendered = renderFile(file, scope, rendering.input.readFile);
    if (rendered.ok) files.set(path, rendered.value);
    else if (rendered.error.kind === "mount")
      errors.push({ kind: "invalid-file-mount", container: name, path, message: rendered.error.message });
    else for (const message of messagesOf(rendered.error.problems)) errors.push({ kind: "template-file", container: name, path, message });
  }
  const volumes = new Map<string, RenderedVolume>();
  for (const [path, volume] of sorted(spec.volumes)) {
    if (isFull(errors)) break;
    const source = renderText(volume.source, scope);
    if (source.ok) volumes.set(path, { source: source.value, path: volume.path, readOnly: volume.readOnly });
    else for (const message of messagesOf(source.error)) errors.push({ kind: "invalid-volume-mount", container: name, path, message });
  }
  return { name, spec, variables, files, volumes };
}

function sorted<T>(map: Readonly<Record<string, T>> | undefined): readonly (readonly [string, T])[] {
  return map === undefined ? [] : inOrder(Object.entries(map));
}

/** Names are usually sorted already, and a check costs less than sorting. */
function inOrder<T>(entries: readonly (readonly [string, T])[]): readonly (readonly [string, T])[] {
  for (let at = 1; at < entries.length; at += 1) {
    if ((entries[at - 1]?.[0] ?? "") > (entries[at]?.[0] ?? "")) return entries.toSorted((a, b) => (a[0] < b[0] ? -1 : 1));
  }
  return entries;
}

/** A resource's own error is reported with the resource. The position is added for multi-line texts only. */
function messagesOf(problems: readonly TemplateProblem[]): readonly string[] {
  return problems
    .filter(({ resource, repeated }) => resource === undefined && repeated !== true)
    .map(({ message, line, column }) => (line === 1 && column === 1 ? message : `${message} (line ${line}, column ${column})`));
}

function countPlaceholders(containers: readonly RenderedContainer[]): number {
  let count = 0;
  for (const { variables, files, volumes } of containers) {
    for (const { origins } of variables.values()) count += origins.length;
    for (const { origins } of files.values()) count += origins.length;
    for (const { source } of volumes.values()) count += source.origins.length;
  }
  return count;
}

/** Texts that are not templates but contain `${`. */
function literalDollars(spec: LatticeService["spec"]): readonly Warning[] {
  const places: string[] = [];
  for (const [field, value] of Object.entries(spec)) {
    if (field === "containers")
      for (const [name, container] of Object.entries(spec.containers ?? {})) findInContainer(container, name, places);
    else if (field === "resources")
      for (const [name, one] of Object.entries(spec.resources ?? {}))
        findInFields(one, RENDERED_OF_RESOURCE, ["spec", "resources", name], places);
    else findDollars(value, ["spec", field], places);
  }
  return places.map((place) => ({
    place,
    message: `has a '\${', which is not expanded: only variables, files, volumes and params are templates`,
  }));
}

const RENDERED_OF_RESOURCE = new Set(["params", "metadata"]);
const RENDERED_OF_CONTAINER = new Set(["variables", "files", "volumes"]);

function findInContainer(container: ContainerSpec, name: string, places: string[]): void {
  const path = ["spec", "containers", name];
  findInFields(container, RENDERED_OF_CONTAINER, path, places);
  for (const [at, volume] of Object.entries(container.volumes ?? {})) {
    if (volume.path !== undefined) findDollars(volume.path, [...path, `volumes["${at}"]`, "path"], places);
  }
}

function findInFields(object: object, without: ReadonlySet<string>, path: string[], places: string[]): void {
  for (const field of Object.keys(object)) {
    const value: unknown = Reflect.get(object, field);
    // only texts can contain a dollar, and most do not
    if ((typeof value !== "object" && !(typeof value === "string" && hasPlaceholders(value))) || without.has(field)) continue;
    path.push(field);
    findDollars(value, path, places);
    path.pop();
  }
}

/** Paths of texts with a `${`. The path is built only for those, which are rare. */
function findDollars(value: unknown, path: string[], places: string[]): void {
  if (typeof value === "string") {
    if (hasPlaceholders(value)) places.push(path.join(".").replaceAll(".[", "["));
  } else if (Array.isArray(value)) {
    for (const [at, item] of value.entries()) {
      path.push(`[${at}]`);
      findDollars(item, path, places);
      path.pop();
    }
  } else if (isJsonObject(value)) findInFields(value, NOTHING, path, places);
}

const NOTHING: ReadonlySet<string> = new Set();
