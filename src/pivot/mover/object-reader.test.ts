/** Objects are read page by page, in any order of the API server, and with lists that expire. */
import { expect, test } from "vitest";
import { err, expectOk, ok } from "#base";
import { capiMachines, secrets, type KubeObject, type Resource } from "#kube";
import type { ApiSide } from "./api-side.ts";
import type { MoveFailure } from "./failure.ts";
import { ObjectReader } from "./object-reader.ts";
import { collectPages, type ObjectPage } from "./pages.ts";

const PAGE = 3;

const named = (resource: Resource, name: string): KubeObject => ({
  apiVersion: "v1",
  kind: resource.kind,
  metadata: { namespace: "a", name, uid: `${resource.kind}/${name}` },
});
const place = (resource: Resource, name: string) => ({
  object: named(resource, name),
  kind: { resource, rule: "owned" as const, hasStatus: false },
});

type Server = { readonly names: readonly string[]; readonly expired?: number; readonly fails?: true };

/** An API server with pages of three; `expired`: so many continued lists are too old. */
function sideWith({ names, expired = 0, fails }: Server) {
  const requests: string[] = [];
  let left = expired;
  const failure = err<MoveFailure>({ kind: "failed", message: "the source could not list" });
  const page: ApiSide["page"] = (resource, _query, from): Promise<ReturnType<typeof ok<ObjectPage>> | typeof failure> => {
    requests.push(`list ${resource.plural} from ${from ?? "the beginning"}`);
    if (fails) return Promise.resolve(failure);
    if (from !== undefined && left > 0) {
      left -= 1;
      return Promise.resolve(ok({ items: [], expired: true as const }));
    }
    const at = Number(from ?? 0);
    const items = names.slice(at, at + PAGE).map((name) => named(resource, name));
    return Promise.resolve(ok(at + PAGE < names.length ? { items, next: String(at + PAGE) } : { items }));
  };
  const get: ApiSide["get"] = (resource, { name }) => {
    requests.push(`get ${resource.plural} ${name}`);
    return Promise.resolve(ok(names.includes(name) ? named(resource, name) : undefined));
  };
  return { side: { side: "source", page, get } as unknown as ApiSide, requests };
}

const letters = [..."abcdefghij"];
const namesOf = (found: readonly (KubeObject | undefined)[]) => found.map((one) => one?.metadata.name);

test("two reads in the order of the list need each page once", async () => {
  const { side, requests } = sideWith({ names: letters });
  const reader = new ObjectReader(side);
  expect(namesOf(expectOk(await reader.read(["a", "d"].map((name) => place(secrets, name)))))).toEqual(["a", "d"]);
  expect(namesOf(expectOk(await reader.read(["e", "h"].map((name) => place(secrets, name)))))).toEqual(["e", "h"]);
  expect(requests).toEqual(["list secrets from the beginning", "list secrets from 3", "list secrets from 6"]);
});

test("names before those of the last read begin the list again", async () => {
  const { side, requests } = sideWith({ names: letters });
  const reader = new ObjectReader(side);
  for (const names of [
    ["b", "c"],
    ["a", "b"],
  ])
    expect(namesOf(expectOk(await reader.read(names.map((name) => place(secrets, name)))))).toEqual(names);
  expect(requests).toEqual(["list secrets from the beginning", "list secrets from 3", "list secrets from the beginning"]);
});

test("the result has the order of the request, kinds mixed, and undefined for what does not exist", async () => {
  const { side } = sideWith({ names: ["a", "b", "c"] });
  const places = [place(secrets, "c"), place(capiMachines, "b"), place(secrets, "aa"), place(capiMachines, "a"), place(secrets, "a")];
  const found = expectOk(await new ObjectReader(side).read(places));
  expect(found.map((one) => one?.metadata.uid)).toEqual(["Secret/c", "Machine/b", undefined, "Machine/a", "Secret/a"]);
});

test("one object of a list is read by its name", async () => {
  const { side, requests } = sideWith({ names: letters });
  expect(namesOf(expectOk(await new ObjectReader(side).read([place(secrets, "j")])))).toEqual(["j"]);
  expect(requests).toEqual(["get secrets j"]);
});

test("an API server that lists in another order is asked for each name", async () => {
  const { side, requests } = sideWith({ names: ["c", "a", "e", "b", "d"] });
  const wanted = ["a", "b", "c", "x"].map((name) => place(secrets, name));
  expect(namesOf(expectOk(await new ObjectReader(side).read(wanted)))).toEqual(["a", "b", "c", undefined]);
  expect(requests).toContain("get secrets a");
});

test("a list that has expired begins again; one that always expires is a failure", async () => {
  const wanted = ["a", "j"].map((name) => place(secrets, name));
  const { side } = sideWith({ names: letters, expired: 2 });
  expect(namesOf(expectOk(await new ObjectReader(side).read(wanted)))).toEqual(["a", "j"]);
  const never = sideWith({ names: letters, expired: 100 });
  expect(await new ObjectReader(never.side).read(wanted)).toMatchObject({ ok: false, error: { kind: "failed" } });
});

test("an object that is gone when its list begins again is not found, although an earlier page had it", async () => {
  const names = [...letters];
  const { side } = sideWith({ names, expired: 1 });
  const reader = new ObjectReader(side);
  expect(namesOf(expectOk(await reader.read(["a", "b"].map((name) => place(secrets, name)))))).toEqual(["a", "b"]);
  names.splice(names.indexOf("c"), 1);
  expect(namesOf(expectOk(await reader.read(["c", "h"].map((name) => place(secrets, name)))))).toEqual([undefined, "h"]);
});

test("an API server that does not answer is a failure", async () => {
  const { side } = sideWith({ names: letters, fails: true });
  expect(await new ObjectReader(side).read(["a", "b"].map((name) => place(secrets, name)))).toMatchObject({ ok: false });
});

test("collected pages: only what is taken, from the beginning when the list has expired", async () => {
  const collect = ({ side }: ReturnType<typeof sideWith>) =>
    collectPages(
      (from) => side.page(secrets, {}, from),
      ({ metadata: { name } }) => (name < "e" ? name : undefined),
    );
  expect(expectOk(await collect(sideWith({ names: letters, expired: 3 })))).toEqual(["a", "b", "c", "d"]);
  expect(await collect(sideWith({ names: letters, expired: 100 }))).toMatchObject({ ok: false, error: { kind: "failed" } });
  expect(await collect(sideWith({ names: letters, fails: true }))).toMatchObject({ ok: false });
});
