/**
 * Random changes to a world: resources of every kind are added, changed and removed. Few names and namespaces, so that they collide: services
 * with the same name and namespace, environments with the same namespace, params that read other resources.
 */
import { expectOk, ok } from "#base";
import { compileAll, describeServiceError, placeOfError, World, worldSettings, type WorldObject } from "#compile";
import { LATTICE_API_VERSION, parseLatticeObject } from "#crds";
import { keyText } from "#kube";

type Random = () => number;
type Fields = Readonly<Record<string, unknown>>;

export type Change = { readonly put: WorldObject } | { readonly remove: WorldObject["kind"]; readonly key: string };

const NAMES = ["x", "x", "x", "y", "y", "y", "z", "z", "x-main", "x-main", "db-postgres", "waypoint"];
const WRITTEN = ["a", "b", "prod"];
const ENVIRONMENTS = ["prod", "prod", "dev", "alt"];

function pick<T>(random: Random, items: readonly [T, ...T[]] | readonly T[]): T {
  return items[Math.floor(random() * items.length)] as T;
}

function maybe(random: Random, chance: number, fields: () => Fields): Fields {
  return random() < chance ? fields() : {};
}

function parsed(kind: WorldObject["kind"], metadata: Fields, spec: Fields): WorldObject {
  return expectOk(parseLatticeObject({ apiVersion: LATTICE_API_VERSION, kind, metadata, spec })) as WorldObject;
}

/** Random creation times, some of them equal. */
function metadataOf(random: Random, name: string, namespace?: string): Fields {
  const made = pick(random, ["2026-01-01T00:00:00Z", "2026-01-02T00:00:00Z", undefined]);
  return { name, ...(namespace === undefined ? {} : { namespace }), ...(made === undefined ? {} : { creationTimestamp: made }) };
}

function resourceOf(random: Random, others: readonly string[]): Fields {
  const type = pick(random, ["service", "service", "service", "external-service", "postgres", "route", "route", "volume"]);
  const read = `\${resources.${pick(random, others)}.port}`;
  if (type === "route")
    return { type, params: { host: "a.test", ...maybe(random, 0.6, () => ({ port: pick(random, [read, read, "http"]) })) } };
  if (type === "volume") return { type, id: "shared", ...maybe(random, 0.3, () => ({ params: { size: pick(random, ["1Gi", "2Gi"]) } })) };
  const id = pick(random, [undefined, "x", "y", "z", "prod/x", "a/y", "db"]);
  const ports = pick(random, [["http"], [80], ["${config.port}"], [read]]);
  return {
    type,
    direction: pick(random, ["inbound", "outbound", "both"]),
    ...(id === undefined ? {} : { id }),
    ...maybe(random, 0.3, () => ({ params: { ports } })),
  };
}

/** Most placeholders can be resolved, because an error hides the other results of a service. */
const SURE = ["plain", "${metadata.name}", "${environment.name}"];
const RISKY = ["${config.k}", "${secrets.s.k}", "${resources.r0.url}", "${resources.r1.host}"];

function serviceOf(random: Random): WorldObject {
  const names = ["r0", "r1", "r2"].slice(0, Math.floor(random() * 4));
  const resources = Object.fromEntries(names.map((name) => [name, resourceOf(random, names)]));
  // a resource that others can read from, with a higher probability
  if (names.length > 1 && random() < 0.6) resources["r0"] = { id: pick(random, ["x", "y"]) };
  const variables = Object.fromEntries(["A", "B"].map((name) => [name, pick(random, random() < 0.85 ? SURE : RISKY)]));
  const spec = {
    ...maybe(random, 0.35, () => ({ environment: pick(random, ENVIRONMENTS) })),
    containers: { main: { image: "i:1", variables }, ...maybe(random, 0.3, () => ({ side: { image: "i:1" } })) },
    resources,
    ...maybe(random, 0.8, () => ({
      service: { ports: { http: { port: pick(random, [80, 8080]) }, ...maybe(random, 0.3, () => ({ admin: { port: 9000 } })) } },
    })),
    ...maybe(random, 0.1, () => ({ deploy: { strategy: "canary" } })),
  };
  return parsed("LatticeService", metadataOf(random, pick(random, NAMES), pick(random, WRITTEN)), spec);
}

function otherOf(random: Random): WorldObject {
  const namespace = pick(random, WRITTEN);
  switch (pick(random, ["external", "environment", "config", "bindings"] as const)) {
    case "external":
      return parsed("LatticeExternalService", metadataOf(random, pick(random, NAMES), namespace), {
        ...maybe(random, 0.4, () => ({ environment: pick(random, ENVIRONMENTS) })),
        endpoints: {
          default: pick(random, [
            "https://one.test",
            "https://one.test/path",
            "https://one.test:8443",
            "http://two.test",
            "tcp://10.0.0.1:5432",
          ]),
        },
        allowedRequesters: pick(random, [["*"], ["x"], ["prod/x", "a/y"], []]),
      });
    case "environment":
      return parsed("LatticeEnvironment", metadataOf(random, pick(random, ENVIRONMENTS)), {
        sourceNamespaces: pick(random, [["a", "b", "prod"], ["a", "b", "prod"], ["a", "b", "prod"], ["a"], []]),
        ...maybe(random, 0.4, () => ({ namespace: pick(random, ["prod", "a", "edge", "b"]) })),
        ...maybe(random, 0.6, () => ({ mesh: { waypoint: random() < 0.5, trustDomain: pick(random, ["cluster.local", "corp.test"]) } })),
        ...maybe(random, 0.3, () => ({
          defaults: { config: { k: "of the environment", port: "http" }, secretBindings: [{ name: "s", secretRef: { name: "env" } }] },
        })),
        ...maybe(random, 0.4, () => ({ gatewayRef: { name: "edge", namespace: pick(random, ["edge", "a", "b", "prod"]) } })),
      });
    case "config":
      return parsed("LatticeServiceConfig", metadataOf(random, pick(random, ["c1", "c2"]), namespace), {
        appliesTo: pick(random, [{ environment: "prod" }, { service: "x" }, { service: "y" }, { cluster: "east" }]),
        values: { k: pick(random, ["one", "two"]), port: pick(random, ["http", "admin"]) },
      });
    case "bindings":
      return parsed("LatticeSecretBindings", metadataOf(random, pick(random, ["b1", "b2"]), namespace), {
        ...maybe(random, 0.5, () => ({ service: pick(random, NAMES) })),
        bindings: { s: { secretRef: { name: pick(random, ["one", "two"]) } } },
      });
  }
}

export function randomChange(random: Random, present: readonly WorldObject[]): Change {
  if (present.length > 0 && random() < 0.3) {
    const gone = pick(random, present);
    return { remove: gone.kind, key: keyText(gone.metadata) };
  }
  return { put: random() < 0.65 ? serviceOf(random) : otherOf(random) };
}

export function emptyWorld(): World {
  return new World(worldSettings({ cluster: { name: "east" } }, { secrets: (namespace, path) => ok(`${namespace} ${path}`) }));
}

export function worldWith(objects: Iterable<WorldObject>): World {
  const world = emptyWorld();
  for (const object of objects) world.put(object);
  return world;
}

/** The compilation result or the errors of each service and external service, as text. */
export function results(world: World): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const key of world.services()) {
    const made = world.compile(key);
    const text = made.ok
      ? JSON.stringify([made.value.id, made.value.objects, made.value.warnings, [...made.value.resolvedDependencies]])
      : made.error.map((error) => `${placeOfError(error)}: ${describeServiceError(error)}`).join("\n");
    found.set(`service ${key}`, text);
  }
  for (const key of world.externals()) {
    const made = world.compileExternal(key);
    found.set(`external ${key}`, made.ok ? JSON.stringify(made.value) : made.error.map((error) => describeServiceError(error)).join("\n"));
  }
  return found;
}

/** The whole result as text. */
export function wholeOf(world: World): string {
  const { namespaces, objects, errors, warnings } = compileAll(world);
  return JSON.stringify([[...results(world)], namespaces, objects, [...errors], warnings], undefined, 1);
}
