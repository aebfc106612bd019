/**
 * One LatticeService and the input of its compilation, for tests of the service compiler. Input that a test does not name is empty: no
 * other services, no secrets, no files. Specs are parsed by the real parser, so that no test compiles a spec that a cluster would reject.
 */
import { err, ok, type Result } from "#base";
import {
  parseLatticeEnvironment,
  parseLatticeSecretBindings,
  parseLatticeService,
  parseLatticeServiceConfig,
  type LatticeEnvironment,
  type LatticeService,
} from "#crds";
import { fieldAt, type Json, type KubeObject } from "#kube";
import {
  atFirst,
  compileService,
  describeCompileError,
  describeWarning,
  grantsOf,
  placeOf,
  registryWith,
  type Grants,
  type Provisioner,
  type ServiceInput,
} from "#service-compiler";
import { DEFAULT_SETTINGS } from "#compile";

type Fields = Readonly<Record<string, unknown>>;

export type InputOptions = {
  readonly name?: string;
  readonly metadata?: Fields;
  readonly namespace?: string;
  /** Spec of the LatticeEnvironment `prod`. */
  readonly environment?: Fields;
  /** Each a spec of a LatticeServiceConfig, by name. */
  readonly configs?: Readonly<Record<string, Fields>>;
  /** Each a spec of a LatticeSecretBindings, by name. */
  readonly bindings?: Readonly<Record<string, Fields>>;
  /** Ports of other services, by `namespace/name`. */
  readonly services?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  /** Endpoints of external services, by `namespace/name`. */
  readonly externals?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Values by path: `postgres/main-db/password`. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  readonly provisioners?: readonly Provisioner[];
  readonly settings?: Partial<ServiceInput["settings"]>;
  readonly syncedVersion?: ServiceInput["syncedVersion"];
  /** Override those of the environment. */
  readonly grants?: Partial<Grants>;
  /** Absent: every object may be mounted. */
  readonly mountProblem?: ServiceInput["mountProblem"];
};

const API_VERSION = "lattice.dev/v1alpha1";

/** Throws the parser's errors: a test must not use a spec that a cluster would reject. */
function parsed<T>(result: Result<T, unknown>): T {
  if (!result.ok) throw new Error(`the spec of this test is invalid: ${JSON.stringify(result.error)}`);
  return result.value;
}

export function serviceOf(spec: Fields, { name = "api", metadata = {} }: InputOptions = {}): LatticeService {
  const raw = { apiVersion: API_VERSION, kind: "LatticeService", metadata: { name, namespace: "prod", ...metadata }, spec };
  return parsed(parseLatticeService(raw));
}

function environmentOf(spec: Fields | undefined): LatticeEnvironment | undefined {
  if (spec === undefined) return undefined;
  return parsed(parseLatticeEnvironment({ apiVersion: API_VERSION, kind: "LatticeEnvironment", metadata: { name: "prod" }, spec }));
}

function named<T>(
  kind: string,
  specs: Readonly<Record<string, Fields>> | undefined,
  parse: (raw: unknown) => Result<T, unknown>,
): readonly T[] {
  return Object.entries(specs ?? {}).map(([name, spec]) =>
    parsed(parse({ apiVersion: API_VERSION, kind, metadata: { name, namespace: "prod" }, spec })),
  );
}

function read<T>(from: Readonly<Record<string, T>> | undefined, key: string): T | undefined {
  return from !== undefined && Object.hasOwn(from, key) ? from[key] : undefined;
}

export function serviceInput(spec: Fields, around: InputOptions = {}): ServiceInput {
  const { services, externals, secrets, files } = around;
  return {
    service: serviceOf(spec, around),
    namespace: around.namespace ?? "prod",
    environment: environmentOf(around.environment),
    configs: named("LatticeServiceConfig", around.configs, parseLatticeServiceConfig),
    bindings: named("LatticeSecretBindings", around.bindings, parseLatticeSecretBindings),
    settings: { ...DEFAULT_SETTINGS, ...around.settings },
    grants: { ...grantsOf(environmentOf(around.environment)), ...around.grants },
    routeHolder: () => undefined,
    mountProblem: around.mountProblem ?? (() => undefined),
    registry: registryWith(around.provisioners),
    findService: ({ namespace, name }) => {
      const ports = read(services, `${namespace}/${name}`);
      return ports === undefined ? undefined : { ports: new Map(Object.entries(ports)) };
    },
    findExternalService: ({ namespace, name }) => {
      const endpoints = read(externals, `${namespace}/${name}`);
      return endpoints === undefined ? undefined : { endpoints: new Map(Object.entries(endpoints)) };
    },
    secrets: (_, path) => {
      const value = read(secrets, path);
      return value === undefined ? err(`there is no secret '${path}'`) : ok(value);
    },
    readFile: (path) => {
      const content = read(files, path);
      if (content === undefined) return err(`${path} cannot be read`);
      return ok(typeof content === "string" ? new TextEncoder().encode(content) : content);
    },
    syncedVersion: around.syncedVersion ?? (() => undefined),
  };
}

export const IMAGE = "myapp:v1.0";

/** A service with one container, `main`. */
export function mainContainer(fields: Fields, spec: Fields = {}): Fields {
  return { containers: { main: { image: IMAGE, ...fields } }, ...spec };
}

export type CompiledObjects = {
  readonly objects: readonly KubeObject[];
  readonly warnings: readonly string[];
  readonly find: (kind: string, name?: string) => KubeObject | undefined;
  /** A field of the only container `main`. */
  readonly main: (...path: readonly string[]) => Json | undefined;
  /** A field of the pod's spec. */
  readonly pod: (...path: readonly string[]) => Json | undefined;
};

/** The compiled objects. Throws the errors, if there are any. */
export function compiled(spec: Fields, around: InputOptions = {}): CompiledObjects {
  const result = compileService(serviceInput(spec, around));
  if (!result.ok) throw new Error(result.error.map(describeCompileError).join("\n"));
  const objects = result.value.objects.map(atFirst);
  const find = (kind: string, name?: string) =>
    objects.find((object) => object.kind === kind && (name === undefined || object.metadata.name === name));
  const pod = (...path: readonly string[]) => fieldAt(find("Deployment"), "spec", "template", "spec", ...path);
  const main = (...path: readonly string[]) => {
    const containers = pod("containers") as readonly Json[];
    return fieldAt(
      containers.find((container) => fieldAt(container, "name") === "main"),
      ...path,
    );
  };
  return { objects, warnings: result.value.warnings.map(describeWarning), find, main, pod };
}

/** `place: message` of each error; empty when it compiles. */
export function mistakes(spec: Fields, around: InputOptions = {}): readonly string[] {
  const result = compileService(serviceInput(spec, around));
  return result.ok ? [] : result.error.map((error) => `${placeOf(error)}: ${describeCompileError(error)}`);
}

/** `data` of a ConfigMap, or the decoded `data` of a Secret; undefined without an object. */
export function dataOf(object: KubeObject | undefined): Readonly<Record<string, string>> | undefined {
  if (object === undefined) return undefined;
  const data = Object.entries((fieldAt(object, "data") ?? {}) as Readonly<Record<string, string>>);
  if (object.kind !== "Secret") return Object.fromEntries(data);
  return Object.fromEntries(data.map(([key, text]) => [key, Buffer.from(text, "base64").toString("utf8")]));
}
