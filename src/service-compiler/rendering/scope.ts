/** The values that `${…}` can name in one service, except `resources`, which are resolved with these. */
import { err, ok } from "#base";
import { didYouMean, type LatticeEnvironment, type LatticeSecretBindings, type LatticeServiceConfig } from "#crds";
import { sourceOf } from "../grants/index.ts";
import type { ServiceInput } from "../input.ts";
import { fields, missing, scopeOf, secret, type TemplateNamespace, type TemplateScope, type Value } from "../templates/index.ts";

export function scopeFor(input: ServiceInput): TemplateScope {
  return scopeOf([
    ["metadata", whenAsked(() => metadataOf(input))],
    ["config", whenAsked(() => configNamespace(input))],
    ["secrets", whenAsked(() => secretsOf(input))],
    ["cluster", whenAsked(() => clusterOf(input))],
    ["environment", whenAsked(() => environmentOf(input))],
  ]);
}

/** Lazy, because most services use only one or two of these. */
function whenAsked(make: () => TemplateNamespace): TemplateNamespace {
  let made: TemplateNamespace | undefined;
  return (rest) => (made ??= make())(rest);
}

function clusterOf({ settings }: ServiceInput): TemplateNamespace {
  const { cluster, clusterDomain } = settings;
  const known = new Map([
    ["name", cluster.name],
    ["domain", clusterDomain],
    ["provider", cluster.provider],
    ["region", cluster.region],
  ]);
  return fields(
    "cluster",
    known,
    "give it with the flags --cluster-name, --cluster-provider and --cluster-region, or in the operator's settings",
  );
}

function environmentOf({ service, settings, environment, namespace }: ServiceInput): TemplateNamespace {
  const known = new Map([
    ["name", service.spec.environment ?? namespace],
    ["namespace", namespace],
    ["ingressDomain", environment?.spec.ingressDomain ?? settings.ingressDomain],
  ]);
  return fields("environment", known, "set ingressDomain in the LatticeEnvironment, or --ingress-domain");
}

function metadataOf({ service, namespace }: ServiceInput): TemplateNamespace {
  const { name, labels = {}, annotations = {} } = service.metadata;
  const known = new Map<string, string | undefined>([
    ["name", name],
    ["namespace", namespace],
    ...Object.entries(labels).map(([key, value]) => [`labels.${key}`, value] as const),
    ...Object.entries(annotations).map(([key, value]) => [`annotations.${key}`, value] as const),
  ]);
  return fields("metadata", known, "");
}

/** Limit of objects of one kind that are read for one service, to bound the time. */
const MOST_APPLYING = 64;

function tooMany(kind: string, count: number): TemplateNamespace {
  return () =>
    missing(
      `${count} objects of kind ${kind} apply to this service, and at most ${MOST_APPLYING} may; put their entries into fewer objects`,
    );
}

function configNamespace(input: ServiceInput): TemplateNamespace {
  const applying = input.configs.filter((config) => rankOf(config, input) > 0);
  if (applying.length > MOST_APPLYING) return tooMany("LatticeServiceConfig", applying.length);
  return fields("config", configOf(input), "");
}

/** The environment's defaults, then environment < service < cluster, then by name; the last value wins. */
function configOf(input: ServiceInput): ReadonlyMap<string, string> {
  const ranked = input.configs.map((config) => ({ config, rank: rankOf(config, input) })).filter(({ rank }) => rank > 0);
  const ordered = ranked.toSorted((a, b) => a.rank - b.rank || (a.config.metadata.name < b.config.metadata.name ? -1 : 1));
  const layers = [input.environment?.spec.defaults?.config ?? {}, ...ordered.map(({ config }) => config.spec.values)];
  return new Map(layers.flatMap((values) => Object.entries(values)));
}

/** 0: it does not apply. */
function rankOf({ spec }: LatticeServiceConfig, { service, settings }: ServiceInput): number {
  const { environment, service: name, cluster } = spec.appliesTo;
  if (environment !== undefined) return environment === service.spec.environment ? 1 : 0;
  if (name !== undefined) return name === service.metadata.name ? 2 : 0;
  return cluster !== undefined && cluster === settings.cluster.name ? 3 : 0;
}

type Source = LatticeSecretBindings["spec"]["bindings"][string];

/** `from`: the namespace whose permissions the binding has; for the environment's own binding, the namespace of the workload. */
type Binding = Source & { readonly from: string };

/** A binding for this service takes precedence over one for all services, and both over the environment's. */
function bindingsOf({ service, environment, bindings, namespace }: ServiceInput): ReadonlyMap<string, Binding> {
  const from = sourceOf(service);
  const byName = bindings.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  const forAll = byName.filter(({ spec }) => spec.service === undefined);
  const forThis = byName.filter(({ spec }) => spec.service === service.metadata.name);
  const found = new Map<string, Binding>(environmentBindings(environment).map(([name, one]) => [name, { ...one, from: namespace }]));
  for (const { spec } of [...forAll, ...forThis])
    for (const [name, binding] of Object.entries(spec.bindings)) found.set(name, { ...binding, from });
  return found;
}

function environmentBindings(environment: LatticeEnvironment | undefined): readonly (readonly [string, Source])[] {
  return (environment?.spec.defaults?.secretBindings ?? []).map(({ name, ...binding }) => [name, binding] as const);
}

function secretsOf(input: ServiceInput): TemplateNamespace {
  const applying = input.bindings.filter(({ spec }) => spec.service === undefined || spec.service === input.service.metadata.name);
  if (applying.length > MOST_APPLYING) return tooMany("LatticeSecretBindings", applying.length);
  const bindings = bindingsOf(input);
  return ([name = "", ...rest]) => {
    const binding = bindings.get(name);
    const key = rest.join(".");
    if (binding === undefined) {
      const near = didYouMean(name, bindings.keys());
      return err({ message: `secret '${name}' is not bound${near}; bind it in a LatticeSecretBindings of this namespace` });
    }
    if (key === "") return err({ message: `names secret '${name}' without a key` });
    const source = binding.keys === undefined ? key : Object.hasOwn(binding.keys, key) ? binding.keys[key] : undefined;
    if (source === undefined)
      return err({ message: `secret '${name}' has no key '${key}'${didYouMean(key, Object.keys(binding.keys ?? {}))}` });
    const value = boundValue(input, binding, source);
    return value.ok ? ok({ value: value.value, source: `key '${key}' of secret '${name}'` }) : err({ message: value.error });
  };
}

function boundValue({ secrets, namespace, environment }: ServiceInput, { secretRef, external, from }: Binding, key: string) {
  if (external !== undefined) {
    // a store grants access by the namespace of the ExternalSecret, which is not the namespace of the binding
    if (from !== namespace)
      return err(
        `a binding in namespace ${from} cannot use the secret stores of namespace ${namespace}; bind it in spec.defaults.secretBindings of LatticeEnvironment ${environment?.metadata.name ?? ""}`,
      );
    const { storeRef, key: place, refreshInterval } = external;
    const value: Value = { kind: "external", parts: [{ store: storeRef, key: place, property: key, refreshInterval }] };
    return ok(value);
  }
  const found = secrets(namespace, `${secretRef?.name ?? ""}/${key}`, from);
  return found.ok ? ok(secret(found.value)) : found;
}
