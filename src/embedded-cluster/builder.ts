/** The same options, one call each, as in controller-runtime's fake client. A builder is immutable: each call returns a new one. */
import type { Clock } from "#base";
import type { KubeObject, Resource } from "#kube";
import type { EmbeddedCluster } from "./embedded-cluster.ts";
import type { Interceptor, InterceptMatch } from "./interceptors/index.ts";
import { listOf } from "./list-of.ts";
import type { ClockOf, ClusterOptions, ClusterUser, ControllerOptions, FixtureObject, OpenApiSource } from "./options.ts";
import { startEmbeddedCluster } from "./start.ts";

/**
 * Collects the options of a cluster.
 *
 * @example
 * const base = clusterBuilder().withCrds("config/crd");
 * await using cluster = await base.withObjects(widget).withClock("fake").start();
 */
export type ClusterBuilder<O extends ClusterOptions = ClusterOptions> = {
  withObjects(...objects: readonly FixtureObject[]): ClusterBuilder<O>;
  /** Files and folders of objects. */
  withFixtures(...paths: readonly string[]): ClusterBuilder<O>;
  /** Files and folders with CustomResourceDefinitions. */
  withCrds(...paths: readonly string[]): ClusterBuilder<O>;
  /** OpenAPI documents: kinds that are not built in are served from them. */
  withOpenApi(...sources: readonly OpenApiSource[]): ClusterBuilder<O>;
  /** A field selector that the test defines. */
  withIndex<T extends KubeObject>(
    resource: Pick<Resource<T>, "group" | "plural" | "type">,
    field: string,
    values: (object: T) => string | readonly string[],
  ): ClusterBuilder<O>;
  withInterceptor(match: InterceptMatch, interceptor: Interceptor): ClusterBuilder<O>;
  withControllers(controllers?: boolean | ControllerOptions): ClusterBuilder<O>;
  withClock<const C extends "system" | "fake" | Clock>(clock: C): ClusterBuilder<O & { readonly clock: C }>;
  withSeed(seed: number): ClusterBuilder<O>;
  withDataDir(folder: string): ClusterBuilder<O>;
  withUsers(...users: readonly ClusterUser[]): ClusterBuilder<O>;
  /** Strategic merge patch on custom resources, by their list types. A real server answers 415. */
  withListTypePatches(): ClusterBuilder<O>;
  start(): Promise<EmbeddedCluster<ClockOf<O>>>;
};

/**
 * An empty builder.
 *
 * @example await using cluster = await clusterBuilder().withFixtures("fixtures").start();
 */
export function clusterBuilder(): ClusterBuilder<{}> {
  return builderOf({});
}

function builderOf<O extends ClusterOptions>(options: O): ClusterBuilder<O> {
  const and = (more: ClusterOptions) => builderOf<O>({ ...options, ...more });
  return {
    withObjects: (...objects) => and({ objects: [...(options.objects ?? []), ...objects] }),
    withFixtures: (...paths) => and({ fixtures: [...listOf(options.fixtures), ...paths] }),
    withCrds: (...paths) => and({ crds: [...listOf(options.crds), ...paths] }),
    withOpenApi: (...sources) => and({ openApi: [...listOf(options.openApi), ...sources] }),
    withIndex: (resource, field, values) => {
      const index = { resource, field, values: values as (object: KubeObject) => string | readonly string[] };
      return and({ indexes: [...(options.indexes ?? []), index] });
    },
    withInterceptor: (match, interceptor) => and({ interceptors: [...(options.interceptors ?? []), { match, interceptor }] }),
    withControllers: (controllers = true) => and({ controllers }),
    withClock: (clock) => builderOf({ ...options, clock }),
    withSeed: (seed) => and({ seed }),
    withDataDir: (dataDir) => and({ dataDir }),
    withUsers: (...users) => and({ users: [...(options.users ?? []), ...users] }),
    withListTypePatches: () => and({ listTypePatches: true }),
    start: () => startEmbeddedCluster<O>(options),
  };
}
