/**
 * How often each request calls a conversion webhook, in which direction, and which metadata the objects have.
 *
 * A call is written as "from>to" and one of: nothing (as stored: all metadata but resourceVersion), "read" (with resourceVersion), "unmanaged"
 * (read, without managedFields), "sent" (as a client sends it), else the keys of its metadata.
 */
import { expect } from "vitest";
import type { ApiResponse } from "../client/api-response.ts";
import type { Api } from "../client/api.ts";
import type { Review } from "../client/hook-host.ts";
import { area } from "../contract.ts";
import { twoVersions, type Sent, type TwoVersions } from "./two-versions.ts";

type Version = "v1" | "v2";
type Given = {
  readonly name: string;
  readonly path: string;
  readonly thing: (n: number, metadata?: object) => object;
  readonly made: ApiResponse;
};
type Row = {
  readonly finalizers?: readonly string[];
  readonly act: (given: Given) => Promise<ApiResponse>;
  readonly calls: readonly string[];
};
type Rows = Readonly<Record<string, Row>>;

const FINALIZERS = ["contracts.test/f"];
const METADATA = new Map([
  ["creationTimestamp generation managedFields name namespace uid", ""],
  ["creationTimestamp generation managedFields name namespace resourceVersion uid", " read"],
  ["creationTimestamp generation name namespace resourceVersion uid", " unmanaged"],
  ["name namespace resourceVersion", " sent"],
]);
const CHANGING = new Set(["deletionGracePeriodSeconds", "deletionTimestamp", "finalizers"]);

function shown({ request }: Review): string {
  const { desiredAPIVersion, objects } = request as unknown as { desiredAPIVersion: string; objects: readonly Sent[] };
  const parts = objects.map(({ apiVersion, metadata }) => {
    const keys = Object.keys(metadata).filter((key) => !CHANGING.has(key));
    return `${apiVersion.split("/")[1]}>${desiredAPIVersion.split("/")[1]}${METADATA.get(keys.join(" ")) ?? ` ${keys.join(" ")}`}`;
  });
  return parts.join("; ");
}

const of =
  (name: string) =>
  ({ request }: Review): boolean =>
    (request["objects"] as unknown as readonly Sent[]).some(({ metadata }) => metadata["name"] === name);

/** The object is in the watch cache of v2, with this version. */
async function cached(api: Api, { v2 }: TwoVersions, made: ApiResponse): Promise<void> {
  const [name, version] = [made.textAt("metadata.name"), made.textAt("metadata.resourceVersion")];
  const isCached = ({ metadata }: Sent) => metadata["name"] === name && metadata["resourceVersion"] === version;
  await api.until(
    () => api.get(`${v2}?resourceVersion=0`),
    (list) => (list.at("items") as readonly Sent[] | undefined)?.some(isCached) === true,
  );
}

/** Each row has its own object, created in one version and changed in another. Calls for the cache of v2 happen after the response. */
async function run(api: Api, kind: TwoVersions, { by, through, rows }: { by: Version; through: Version; rows: Rows }): Promise<void> {
  const body =
    (version: Version, name: string) =>
    (n: number, metadata: object = {}) => ({
      apiVersion: `${kind.things.group}/${version}`,
      kind: "Thing",
      metadata: { name, ...metadata },
      spec: { n },
    });
  const before = new Map<string, number>();
  for (const [title, { act, finalizers }] of Object.entries(rows)) {
    const name = `${through}-${title.replaceAll(/[^a-z]/g, "-")}`;
    const metadata = finalizers === undefined ? {} : { finalizers };
    const made = (await api.post(`${kind[by]}?fieldManager=m`, body(by, name)(1, metadata))).gives(201);
    await cached(api, kind, made);
    before.set(name, kind.hook.calls.filter(of(name)).length);
    await act({ name, path: `${kind[through]}/${name}`, thing: body(through, name), made });
  }
  const last = (await api.post(kind[by], body(by, `${through}-last`)(1))).gives(201);
  await cached(api, kind, last);
  const calls = [...before].map(([name, from]) => [name, kind.hook.calls.filter(of(name)).slice(from).map(shown)]);
  const wanted = Object.values(rows).map(({ calls }, index) => [[...before.keys()][index], calls]);
  expect(Object.fromEntries(calls)).toEqual(Object.fromEntries(wanted));
}

const SUBRESOURCES = { subresources: { status: {}, scale: { specReplicasPath: ".spec.n", statusReplicasPath: ".status.n" } } };
const version = ({ made }: Given) => ({ resourceVersion: made.textAt("metadata.resourceVersion") });

/** The requests, with the expected webhook calls. */
function requests(api: Api, dry: string, calls: Readonly<Record<string, readonly string[]>>): Rows {
  const at = ({ path }: Given, below = "") => `${path}${below}?fieldManager=m${dry}`;
  const replicas = { spec: { replicas: 3 } };
  const all: Readonly<Record<string, Omit<Row, "calls">>> = {
    get: { act: ({ path }) => api.get(path) },
    "get scale": { act: ({ path }) => api.get(`${path}/scale`) },
    list: { act: ({ path, name }) => api.get(`${path.slice(0, path.lastIndexOf("/"))}?fieldSelector=metadata.name=${name}`) },
    "create again": { act: ({ path, thing }) => api.post(`${path.slice(0, path.lastIndexOf("/"))}?fieldManager=m${dry}`, thing(1)) },
    update: { act: (given) => api.put(at(given), given.thing(2, version(given))) },
    "update of nothing": { act: (given) => api.put(at(given), given.thing(1, version(given))) },
    "update of an old version": { act: (given) => api.put(at(given), given.thing(2, { resourceVersion: "1" })) },
    "merge patch": { act: (given) => api.mergePatch(at(given), { spec: { n: 2 } }) },
    "json patch": { act: (given) => api.jsonPatch(at(given), [{ op: "replace", path: "/spec/n", value: 2 }]) },
    apply: { act: (given) => api.apply("k&force=true", `${given.path}?${dry.slice(1)}`, given.thing(2)) },
    "status update": { act: (given) => api.put(at(given, "/status"), { ...given.thing(1, version(given)), status: { n: 1 } }) },
    scale: { act: (given) => api.mergePatch(at(given, "/scale"), replicas) },
    delete: { act: (given) => api.delete(at(given)) },
    "delete with a finalizer": { finalizers: FINALIZERS, act: (given) => api.delete(at(given)) },
    deletecollection: {
      act: ({ path, name }) => api.delete(`${path.slice(0, path.lastIndexOf("/"))}?fieldSelector=metadata.name=${name}${dry}`),
    },
  };
  return Object.fromEntries(
    Object.entries(calls).map(([title, wanted]) => {
      const row = all[title];
      if (row === undefined) throw new Error(`there is no request "${title}"`);
      return [title, { ...row, calls: wanted }];
    }),
  );
}

const BY_UPDATE = ["v2>v1 read", "v2>v1 read"];
const WRITTEN = ["v2>v1", "v1>v2", "v1>v2"];
const DRY_RUN = ["v2>v1 read", "v1>v2 read"];

export const conversionCounts = area("conversion counts", {
  "a request in another version than the stored one calls a conversion webhook as often as storage encodes and decodes": async (api) => {
    const kind = await twoVersions(api, SUBRESOURCES);
    const rows = requests(api, "", {
      get: ["v1>v2"],
      "get scale": ["v1>v2"],
      list: [],
      "create again": ["v2>v1", "v1>v2"],
      update: ["v2>v1", ...BY_UPDATE, "v2>v1 sent", ...WRITTEN],
      "update of nothing": ["v2>v1", ...BY_UPDATE, "v2>v1 sent", ...WRITTEN],
      "update of an old version": ["v2>v1", ...BY_UPDATE, "v2>v1 sent", "v1>v2"],
      "merge patch": ["v2>v1", ...BY_UPDATE, "v2>v1 unmanaged", ...WRITTEN],
      "json patch": ["v2>v1", ...BY_UPDATE, "v2>v1 unmanaged", ...WRITTEN],
      apply: ["v2>v1", ...BY_UPDATE, "v2>v1 read", ...WRITTEN],
      "status update": ["v2>v1", ...BY_UPDATE, "v2>v1 sent", ...WRITTEN],
      scale: ["v2>v1", ...WRITTEN],
      delete: ["v1>v2", "v2>v1", "v1>v2", "v1>v2"],
      "delete with a finalizer": ["v1>v2", "v2>v1", ...WRITTEN],
      deletecollection: ["v1>v2", "v2>v1", "v1>v2", "v1>v2"],
    });
    await run(api, kind, { by: "v1", through: "v2", rows });
  },

  "a dry run in another version than the stored one calls a conversion webhook with the resourceVersion of the object": async (api) => {
    const kind = await twoVersions(api, SUBRESOURCES);
    const rows = requests(api, "&dryRun=All", {
      "create again": ["v1>v2", "v1>v2"],
      update: ["v1>v2", ...BY_UPDATE, "v2>v1 sent", ...DRY_RUN],
      "update of an old version": ["v1>v2", ...BY_UPDATE, "v2>v1 sent"],
      "merge patch": ["v1>v2", ...BY_UPDATE, "v2>v1 unmanaged", ...DRY_RUN],
      apply: ["v1>v2", ...BY_UPDATE, "v2>v1 read", ...DRY_RUN],
      scale: ["v1>v2", ...DRY_RUN],
      delete: ["v1>v2", "v1>v2"],
      "delete with a finalizer": ["v1>v2", "v1>v2", ...DRY_RUN],
      deletecollection: ["v1>v2", "v1>v2"],
    });
    await run(api, kind, { by: "v1", through: "v2", rows });
  },

  "a request in the stored version calls a conversion webhook for other versions in managedFields and for their watch caches": async (
    api,
  ) => {
    const kind = await twoVersions(api, SUBRESOURCES);
    const owners = ["v1>v2 read", "v1>v2 read"];
    const rows = requests(api, "", {
      get: [],
      "create again": [],
      update: [...owners, "v1>v2 sent", "v1>v2"],
      "merge patch": [...owners, "v1>v2 unmanaged", "v1>v2"],
      apply: [...owners, "v1>v2 read", "v1>v2"],
      scale: ["v1>v2"],
      delete: ["v1>v2"],
      "delete with a finalizer": ["v1>v2"],
      deletecollection: ["v1>v2"],
    });
    await run(api, kind, { by: "v2", through: "v1", rows });
  },
});
