/** The requests to both servers. `run` makes names unique, so that rounds do not share objects. */
import { pathOf, type KubeObject, type Resource } from "#kube";
import type { Ask } from "./api-load.ts";
import { configMap, configMaps, deployment, deployments, withImage } from "./anchor-objects.ts";

export type ApiOperation = {
  readonly name: string;
  readonly count: number;
  readonly ask: (at: number, run: string) => Ask;
  /** Sent as often, before and after, outside the measured time. */
  readonly before?: (at: number, run: string) => Ask;
  readonly after?: (at: number, run: string) => Ask;
};

type Kind = {
  readonly name: string;
  readonly make: (name: string, round: number) => KubeObject;
  readonly patch: (round: number) => object;
  readonly resource: Resource;
};

const namespace = "default";

const KINDS: readonly Kind[] = [
  {
    name: "ConfigMap",
    resource: configMaps,
    make: (name, round) => ({ ...configMap(round), metadata: { name, namespace, labels: { app: "web" } } }),
    patch: (round) => ({ data: { "key-0": String(round) } }),
  },
  {
    name: "Deployment",
    resource: deployments,
    make: (name, round) => ({
      ...withImage(deployment(0), `images.example/app:${round}`),
      metadata: { name, namespace, labels: { app: "web" } },
    }),
    patch: (round) => ({ spec: { template: { spec: { containers: [{ name: "app", image: `images.example/app:${round}` }] } } } }),
  },
];

const LISTED = 100;
const FEW = 10;

export function apiOperations(): readonly ApiOperation[] {
  return KINDS.flatMap(operationsOn);
}

function operationsOn({ name: kind, resource, make, patch }: Kind): readonly ApiOperation[] {
  const collection = pathOf(resource, { namespace });
  const create = (name: string): Ask => ({ method: "POST", path: collection, body: JSON.stringify(make(name, 0)) });
  const named = (name: string) => pathOf(resource, { namespace, name });
  const remove = (name: string): Ask => ({ method: "DELETE", path: named(name) });
  const each = (at: number, run: string) => `bench-${run}-${at}`;
  const few = (at: number, run: string) => `bench-${run}-${at % FEW}`;
  const apply = (name: string, round: number): Ask => ({
    method: "PATCH",
    path: `${named(name)}?fieldManager=bench&force=true`,
    type: "application/apply-patch+yaml",
    body: JSON.stringify(make(name, round)),
  });
  const made = { before: (at: number, run: string) => (at < FEW ? create(each(at, run)) : { method: "GET", path: "/readyz" }) };
  const cleaned = { after: (at: number, run: string) => (at < FEW ? remove(each(at, run)) : { method: "GET", path: "/readyz" }) };
  const listed = (at: number, run: string) => (at < LISTED ? create(each(at, run)) : { method: "GET", path: "/readyz" });
  const unlisted = (at: number, run: string) => (at < LISTED ? remove(each(at, run)) : { method: "GET", path: "/readyz" });
  return [
    { name: `create ${kind}`, count: 1_000, ask: (at, run) => create(each(at, run)), after: (at, run) => remove(each(at, run)) },
    { name: `get ${kind}`, count: 500, ask: (at, run) => ({ method: "GET", path: named(few(at, run)) }), ...made, ...cleaned },
    {
      name: `list of ${LISTED} ${kind}s`,
      count: LISTED,
      ask: () => ({ method: "GET", path: `${collection}?limit=500` }),
      before: listed,
      after: unlisted,
    },
    {
      name: `strategic merge patch of ${kind}`,
      count: 300,
      ask: (at, run) => ({
        method: "PATCH",
        path: named(few(at, run)),
        type: "application/strategic-merge-patch+json",
        body: JSON.stringify(patch(at)),
      }),
      ...made,
      ...cleaned,
    },
    { name: `server-side apply of ${kind}`, count: 300, ask: (at, run) => apply(few(at, run), at), ...made, ...cleaned },
    { name: `delete ${kind}`, count: 300, ask: (at, run) => remove(each(at, run)), before: (at, run) => create(each(at, run)) },
  ];
}
