/** Secrets and Namespaces of the file in a bootstrap cluster that has objects of others. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { base64OfText, expectOk } from "#base";
import { startEmbeddedCluster, type EmbeddedCluster } from "#embedded-cluster";
import { namespaces, secrets, type KubeObject } from "#kube";
import { besideNote, besideProblem, besideState, writeBeside, type AppliedBeside } from "./beside.ts";

let cluster: EmbeddedCluster;
beforeAll(async () => (cluster = await startEmbeddedCluster()));
afterAll(() => cluster.close());

function secret(name: string, data: Readonly<Record<string, string>>): AppliedBeside {
  const encoded = Object.fromEntries(Object.entries(data).map(([key, text]) => [key, base64OfText(text)]));
  const object = { apiVersion: "v1", kind: "Secret", metadata: { name, namespace: "default" }, data: encoded };
  return { resource: secrets, object };
}

const call = {};
const options = (name = "mgmt") => ({ client: cluster.client, name, call });
const stateOf = async (one: AppliedBeside, name?: string) => expectOk(await besideState(options(name), one));
const write = async (one: AppliedBeside, name?: string) => expectOk(await writeBeside(options(name), one));
const byOthers = ({ resource, object }: AppliedBeside) => cluster.client.create<KubeObject>(resource, object, { fieldManager: "other" });

test("an object that is missing is written, and is the same afterwards", async () => {
  const one = secret("new", { key: "v" });
  expect(await stateOf(one)).toEqual({ kind: "missing" });
  await write(one);
  expect(await stateOf(one)).toEqual({ kind: "same" });
});

test("stringData is compared as data", async () => {
  const { object } = secret("text", {});
  const one = { resource: secrets, object: { ...object, stringData: { key: "v" } } as KubeObject };
  await byOthers(secret("text", { key: "v" }));
  expect(await stateOf(one)).toEqual({ kind: "same" });
});

test("one of others with other data is a problem, which names the fields and no value", async () => {
  await byOthers(secret("theirs", { user: "them", password: "hunter2" }));
  const one = secret("theirs", { user: "them", password: "mine-and-secret", region: "eu" });
  const state = await stateOf(one);
  expect(state).toEqual({ kind: "foreign", differs: ["data password", "data region"] });
  const problem = besideProblem(one, state) ?? "";
  expect(problem).toBe(
    "Secret default/theirs exists in the bootstrap cluster, was not written by this installation, and differs from the file (data.password, data.region); give the one of the file another name, remove it from the file to use the one that exists, or delete that one",
  );
  for (const value of ["hunter2", "mine-and-secret", base64OfText("hunter2")]) expect(problem).not.toContain(value);
});

test("one of others with the same data, and more, is used", async () => {
  await byOthers(secret("shared", { key: "v", more: "w" }));
  expect(await stateOf(secret("shared", { key: "v" }))).toEqual({ kind: "same" });
});

test("one that another installation has written is one of others", async () => {
  await write(secret("two", { key: "v" }), "east");
  expect(await stateOf(secret("two", { key: "w" }))).toMatchObject({ kind: "foreign" });
});

test("one of this installation follows the file: changed keys, and keys that the file has no more", async () => {
  await write(secret("own", { a: "1", b: "2" }));
  expect(await stateOf(secret("own", { a: "2", b: "2" }))).toEqual({ kind: "changed" });
  const less = secret("own", { a: "1" });
  expect(await stateOf(less)).toEqual({ kind: "changed" });
  await write(less);
  expect(await stateOf(less)).toEqual({ kind: "same" });
  expect(cluster.peek(secrets, { namespace: "default", name: "own" })).toMatchObject({ data: { a: base64OfText("1") } });
});

test("one of this installation that a person has changed is left, with a note", async () => {
  const one = secret("edited", { a: "1" });
  await write(one);
  const patch = { data: { a: base64OfText("2") } };
  const key = { namespace: "default", name: "edited" };
  expectOk(await cluster.client.patch<KubeObject>(secrets, key, { type: "merge", patch }, { fieldManager: "kubectl-edit" }));
  const state = await stateOf(one);
  expect(state).toEqual({ kind: "edited", by: "kubectl-edit" });
  expect(besideNote(one, state)).toMatch(/^Secret default\/edited was changed in the bootstrap cluster by kubectl-edit/);
});

test("a Namespace that exists is used, unless the file labels it in another way", async () => {
  const place = (labels: Readonly<Record<string, string>>): AppliedBeside => ({
    resource: namespaces,
    object: { apiVersion: "v1", kind: "Namespace", metadata: { name: "capa-system", labels } },
  });
  await byOthers(place({ team: "them" }));
  expect(await stateOf(place({}))).toEqual({ kind: "same" });
  const one = place({ team: "us" });
  const state = await stateOf(one);
  expect(state).toEqual({ kind: "foreign", differs: ["metadata labels team"] });
  expect(besideProblem(one, state)).toContain("Namespace capa-system exists in the bootstrap cluster");
});
