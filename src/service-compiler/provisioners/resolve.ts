/**
 * The resources of one service, each provisioned when it is first needed.
 *
 * Params may read the outputs of other resources, so the order follows from the references. A resource that is needed while it is being provisioned
 * is part of a cycle. Each resource's own error is kept once, however many templates refer to it.
 */
import { err, ok, type Result } from "#base";
import { didYouMean } from "#crds";
import type { JsonObject } from "#kube";
import {
  withNamespace,
  type FoundValue,
  type MissingName,
  type TemplateNamespace,
  type TemplateScope,
  type TemplateProblem,
} from "../templates/index.ts";
import { agreementParams, EVERYTHING, pathWarnings, type AgreementParams, type OwnPorts } from "./agreement.ts";
import { contradictions } from "./contradictions.ts";
import { unknownParams } from "./known-params.ts";
import { notGranted } from "./not-granted.ts";
import type { Params } from "./params.ts";
import type { Provisioned, Provisioner, ResourceProblem, ServiceAddress, ProvisionerContext } from "./provisioner.ts";
import type { Registry } from "./registry.ts";
import { renderParams } from "./render-params.ts";

export type ResourceEntry = {
  readonly name: string;
  readonly type: string;
  readonly direction: "inbound" | "outbound" | "both";
  readonly address: ServiceAddress;
  readonly class: string | undefined;
  readonly params: JsonObject;
};

/** Type of a resource whose mistakes are reported elsewhere. The schema does not allow this type name. */
export const UNREAD_TYPE = "?";

export type ResourceError =
  | { readonly kind: "resource-not-found"; readonly name: string; readonly type: string; readonly id: string }
  | { readonly kind: "unsupported-resource-type"; readonly name: string; readonly type: string; readonly known: readonly string[] }
  /** `field`: the part of the resource with the problem, such as `params.port`. */
  | { readonly kind: "provisioner"; readonly name: string; readonly message: string; readonly field?: string }
  | { readonly kind: "resource-not-granted"; readonly name: string; readonly message: string }
  | { readonly kind: "circular-dependency"; readonly of: "resources" | "containers"; readonly path: readonly string[] };

export type ResourceResolution = {
  /** Ports, methods and paths of every valid entry with a peer. An entry that is missing here opens nothing. */
  readonly agreements: ReadonlyMap<string, AgreementParams>;
  readonly provisioned: ReadonlyMap<string, Provisioned>;
  readonly errors: readonly ResourceError[];
  readonly warnings: readonly { readonly place: string; readonly message: string }[];
};

export type ResolvedResources = {
  /** `${resources.NAME.OUTPUT}`. */
  readonly namespace: TemplateNamespace;
  /** Provisions the resources that no template has read, and returns everything that was found. */
  readonly finish: () => ResourceResolution;
};

export type Resolving = {
  readonly entries: readonly ResourceEntry[];
  readonly registry: Registry;
  readonly surroundings: ProvisionerContext;
  /** All template namespaces except `resources`; params can read these as well. */
  readonly scope: TemplateScope;
  /** Ports of the service itself. */
  readonly ownPorts: OwnPorts;
};

export function resolveResources({ entries, registry, surroundings, scope, ownPorts }: Resolving): ResolvedResources {
  const byName = new Map(entries.map((entry) => [entry.name, entry]));
  const done = new Map<string, Result<Provisioned, readonly ResourceError[]>>();
  const errors = new Map<string, readonly ResourceError[]>();
  const warnings = new Map<string, ResourceResolution["warnings"][number]>();
  const stack: string[] = [];
  const agreements = new Map<string, AgreementParams>();

  const warn = ({ name }: ResourceEntry, message: string) => {
    warnings.set(`${name} ${message}`, { place: `spec.resources.${name}`, message });
  };

  const keep = (name: string, result: Result<Provisioned, readonly ResourceError[]>) => {
    done.set(name, result);
    if (!result.ok && !errors.has(name)) errors.set(name, result.error);
    return result;
  };

  /** An exceeded budget is reported only where it was exceeded first. */
  const keepUnread = (entry: ResourceEntry, problems: readonly TemplateProblem[]): Result<never, readonly ResourceError[]> => {
    const error = err(paramErrors(entry, problems, { errors, byName }));
    done.set(entry.name, error);
    if (!errors.has(entry.name) && !problems.every(({ repeated }) => repeated === true)) errors.set(entry.name, error.error);
    return error;
  };

  /** The parsed params, which are the only input of the mesh. */
  const understand = (entry: ResourceEntry, params: Params, provisioner: Provisioner | undefined): Result<void, ResourceProblem> => {
    const unknown = unknownParams(entry, provisioner);
    const narrows = entry.direction !== "outbound" || entry.type === "service";
    const read = narrows ? agreementParams(params, entry.direction === "inbound" ? ownPorts : undefined) : ok(EVERYTHING);
    if (unknown.length > 0) return err({ kind: "several", problems: read.ok ? unknown : [...unknown, read.error] });
    if (!read.ok) return read;
    agreements.set(entry.name, read.value);
    for (const text of pathWarnings(read.value)) warn(entry, text);
    return ok(undefined);
  };

  const provision = (entry: ResourceEntry): Result<Provisioned, readonly ResourceError[]> => {
    const known = done.get(entry.name);
    if (known !== undefined) return known;
    const { name, type } = entry;
    const from = stack.indexOf(name);
    if (from >= 0) return err([{ kind: "circular-dependency", of: "resources", path: [...stack.slice(from), name] }]);
    if (type === UNREAD_TYPE) return keep(name, err([]));
    const provisioner = registry.get(type);
    if (provisioner === undefined) return keep(name, err([{ kind: "unsupported-resource-type", name, type, known: [...registry.keys()] }]));
    stack.push(name);
    const params = renderParams(entry.params, inner);
    stack.pop();
    if (!params.ok) return keepUnread(entry, params.error);
    const understood = understand(entry, params.value, provisioner);
    if (!understood.ok) return keep(name, err(ownErrors(entry, understood.error)));
    const request = { ...entry, params: params.value, surroundings };
    const made = provisioner.provision(request);
    const refused = made.ok ? notGranted(made.value, request) : undefined;
    if (!made.ok || refused !== undefined) agreements.delete(name);
    if (!made.ok) return keep(name, err(ownErrors(entry, made.error)));
    if (refused !== undefined) return keep(name, err([{ kind: "resource-not-granted", name, message: refused }]));
    if (made.value.callee !== undefined) agreements.set(name, { ...EVERYTHING, ports: made.value.callee.ports });
    for (const text of made.value.warnings ?? []) warn(entry, text);
    return keep(name, made);
  };

  /** For an inbound resource the caller is not looked up; only its agreement is parsed. */
  const readInbound = (entry: ResourceEntry): undefined => {
    const params = renderParams(entry.params, inner);
    if (!params.ok) return void keepUnread(entry, params.error);
    const understood = understand(entry, params.value, registry.get(entry.type));
    if (!understood.ok) errors.set(entry.name, ownErrors(entry, understood.error));
  };

  /** Cached: many variables may read the same output. */
  const found = new Map<string, Result<FoundValue, MissingName>>();
  const namespace: TemplateNamespace = (path) => {
    const text = path.length === 2 ? `${path[0]}.${path[1]}` : path.join(".");
    const known = found.get(text);
    if (known !== undefined) return known;
    const answer = look(path);
    // inside a cycle the result is not final
    if (answer.ok || stack.length === 0) found.set(text, answer);
    return answer;
  };

  const look: TemplateNamespace = ([name = "", ...rest]) => {
    const entry = byName.get(name);
    if (entry === undefined) return err({ message: `resource '${name}' is not declared${didYouMean(name, byName.keys())}` });
    if (entry.direction === "inbound") return err({ message: `resource '${name}' is inbound: it calls this service, and has no outputs` });
    const made = provision(entry);
    if (!made.ok) {
      if (made.error.some(({ kind }) => kind === "circular-dependency")) errors.set(name, made.error);
      return err({ message: `resource '${name}' has an error, which is reported separately`, resource: name });
    }
    const wanted = rest.join(".");
    const output = made.value.outputs.get(wanted);
    if (output === undefined) return readAnyOutput(entry, wanted, made.value);
    const value = output();
    if (value.ok) return ok({ value: value.value, source: `output '${wanted}' of ${entry.type} '${entry.address.name}'` });
    if (!errors.has(name)) errors.set(name, ownErrors(entry, value.error));
    return err({ message: `resource '${name}' has an error, which is reported separately`, resource: name });
  };
  const inner = withNamespace(scope, "resources", namespace);

  return {
    namespace,
    finish: () => {
      const provisioned = new Map<string, Provisioned>();
      for (const entry of entries) {
        const made = entry.direction === "inbound" ? readInbound(entry) : provision(entry);
        if (made?.ok === true) provisioned.set(entry.name, made.value);
      }
      for (const { name, message } of contradictions(entries, provisioned, agreements)) {
        agreements.delete(name);
        if (!errors.has(name)) errors.set(name, [{ kind: "provisioner", name, message }]);
      }
      return { agreements, provisioned, errors: [...new Set([...errors.values()].flat())], warnings: [...warnings.values()] };
    },
  };
}

/** The error belongs to the name that is read, not to the resource. */
function readAnyOutput(entry: ResourceEntry, wanted: string, made: Provisioned): Result<FoundValue, MissingName> {
  const value = wanted === "" ? undefined : made.anyOutput?.(wanted);
  if (value === undefined) return err(noOutput(entry, wanted, made));
  if (value.ok) return ok({ value: value.value, source: `output '${wanted}' of ${entry.type} '${entry.address.name}'` });
  return err({ message: value.error.kind === "other" ? value.error.message : "is not there" });
}

function noOutput({ name, type }: ResourceEntry, wanted: string, { outputs }: Provisioned): MissingName {
  if (wanted === "") return { message: `names resource '${name}' without an output; there are ${[...outputs.keys()].join(", ")}` };
  return {
    message: `${type} '${name}' has no output '${wanted}'${didYouMean(wanted, outputs.keys())}; there are ${[...outputs.keys()].join(", ")}`,
  };
}

type Around = { readonly errors: ReadonlyMap<string, readonly ResourceError[]>; readonly byName: ReadonlyMap<string, ResourceEntry> };

/** A param that reads a resource of a cycle has the error of the cycle; one that reads a resource with an error is checked after that is fixed. */
function paramErrors(entry: ResourceEntry, problems: readonly TemplateProblem[], { errors, byName }: Around): readonly ResourceError[] {
  const circle = problems
    .flatMap(({ resource }) => (resource === undefined ? [] : (errors.get(resource) ?? [])))
    .find((error) => error.kind === "circular-dependency");
  if (circle !== undefined) return [circle];
  return problems.map(({ message, exceeded, field }) => {
    const reads = exceeded === true ? readPath(entry, byName) : "";
    return { kind: "provisioner", name: entry.name, message: `${message}${reads}`, ...(field === undefined ? {} : { field }) };
  });
}

const MOST_NAMED = 4;

/** ` (c -> b -> a)`: which resources the params read, one after the other. */
function readPath(entry: ResourceEntry, byName: ReadonlyMap<string, ResourceEntry>): string {
  const names: string[] = [];
  for (let at: ResourceEntry | undefined = entry; at !== undefined && !names.includes(at.name);) {
    names.push(at.name);
    const next: string | undefined = /\$\{resources\.([-a-z0-9]+)\./.exec(JSON.stringify(at.params))?.[1];
    at = next === undefined ? undefined : byName.get(next);
  }
  if (names.length < 2) return "";
  const shown = names.length <= MOST_NAMED ? names : [...names.slice(0, MOST_NAMED - 1), "…", names.at(-1)];
  return ` (${shown.join(" -> ")})`;
}

function ownErrors(entry: ResourceEntry, problem: ResourceProblem): readonly ResourceError[] {
  const { name, type, address } = entry;
  switch (problem.kind) {
    case "several":
      return problem.problems.flatMap((one) => ownErrors(entry, one));
    case "not-found":
      return [{ kind: "resource-not-found", name, type, id: `${address.namespace}/${address.name}` }];
    case "other": {
      const { message, field } = problem;
      return [{ kind: "provisioner", name, message, ...(field === undefined ? {} : { field }) }];
    }
  }
}
