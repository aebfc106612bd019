/** A named group of controllers and services, and the kinds that it follows. */
import type { Resource } from "#kube";
import type { InformerNeeds } from "../cache.ts";
import type { BoundController } from "../pass.ts";
import type { BoundLeaderService } from "./leader-service.ts";

export type ManagerRole = {
  /** Unique in a manager. */
  readonly name: string;
  readonly controllers?: readonly BoundController[];
  readonly services?: readonly BoundLeaderService[];
  /** Whether it is active from the start; default false. */
  readonly active?: boolean;
};

type Follower = {
  readonly kinds: readonly Resource[];
  readonly optional?: readonly Resource[] | undefined;
};

/** In the order of the declarations. A kind that one of them requires is not optional. */
export function informerNeedsOf({ controllers = [], services = [] }: ManagerRole): InformerNeeds {
  const followers: readonly Follower[] = [
    ...controllers.map(({ reconciles, owns = [], watches, reads = [], optional }) => ({
      kinds: [reconciles, ...owns, ...watches.map((watch) => watch.resource), ...reads],
      optional,
    })),
    ...services.map(({ reads = [], optional }) => ({ kinds: reads, optional })),
  ];
  const those = (wanted: boolean) =>
    followers.flatMap(({ kinds, optional = [] }) => kinds.filter((kind) => optional.includes(kind) === wanted));
  const indexes = [...controllers, ...services].flatMap((part) => part.indexes ?? []);
  return { required: those(false), optional: those(true), indexes };
}

/** Two parts of a manager with one name would share metrics, labels and log lines. */
export function checkUniqueNames(roles: readonly ManagerRole[]): void {
  const kinds = {
    controllers: roles.flatMap(({ controllers = [] }) => controllers.map(({ name }) => name)),
    services: roles.flatMap(({ services = [] }) => services.map(({ name }) => name)),
    roles: roles.map(({ name }) => name),
  };
  for (const [kind, names] of Object.entries(kinds)) {
    const twice = names.find((name, index) => names.indexOf(name) !== index);
    if (twice !== undefined) throw new Error(`two ${kind} are called ${twice}`);
  }
}
