/** Writes that wait for admission while other writes proceed. */
import { expect, test } from "vitest";
import { ok } from "#base";
import { refuse } from "../protocol/status.ts";
import { testServer } from "./server.test-support.ts";
import type { AdmissionPlugin } from "../protocol/admission-port.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";
const MERGE = "application/merge-patch+json";

/** Admission that waits until it is released, and counts its calls. */
function slowAdmission(operation: "CREATE" | "UPDATE" | "DELETE") {
  const waiting: (() => void)[] = [];
  let asked = 0;
  const plugin: AdmissionPlugin = {
    name: "Slow",
    mutate: (attributes) => {
      if (attributes.operation !== operation || attributes.user.name !== "admin" || attributes.type.collection !== "/configmaps")
        return ok(attributes.object);
      asked += 1;
      return new Promise((resolve) => waiting.push(() => resolve(ok(attributes.object))));
    },
  };
  return { plugin, asked: () => asked, letGo: () => waiting.splice(0).forEach((go) => go()) };
}

async function letGoUntilDone<T>(work: Promise<T>, letGo: () => void): Promise<T> {
  let done = false;
  const ended = work.finally(() => (done = true));
  while (!done) {
    letGo();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return ended;
}

test("of two waiting creates one succeeds", async () => {
  const slow = slowAdmission("CREATE");
  const { ask } = testServer(undefined, { admission: () => [slow.plugin] });
  const both = Promise.all(["1", "2"].map(async (v) => ask("POST", MAPS, { body: { metadata: { name: "m" }, data: { v } } })));
  const answers = await letGoUntilDone(both, slow.letGo);
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409]);
});

test("a patch is retried on the current object after a wait, and no write is lost", async () => {
  const slow = slowAdmission("UPDATE");
  const { ask } = testServer(undefined, { admission: () => [slow.plugin] });
  await ask("POST", MAPS, { body: { metadata: { name: "m" }, data: {} } });
  const both = Promise.all(["a", "b"].map(async (key) => ask("PATCH", `${MAPS}/m`, { body: { data: { [key]: "1" } }, type: MERGE })));
  const answers = await letGoUntilDone(both, slow.letGo);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(slow.asked()).toBe(3);
  expect((await ask("GET", `${MAPS}/m`)).body).toMatchObject({ data: { a: "1", b: "1" } });
});

test("a PUT whose resourceVersion became stale during a wait is a conflict", async () => {
  const slow = slowAdmission("UPDATE");
  const { ask } = testServer(undefined, { admission: () => [slow.plugin] });
  const made = await ask("POST", MAPS, { body: { metadata: { name: "m" }, data: {} } });
  const { resourceVersion } = (made.body as { metadata: { resourceVersion: string } }).metadata;
  const put = async (v: string) => ask("PUT", `${MAPS}/m`, { body: { metadata: { name: "m", resourceVersion }, data: { v } } });
  const answers = await letGoUntilDone(Promise.all([put("1"), put("2")]), slow.letGo);
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 409]);
});

test("a delete calls admission again for a changed object, and is a 404 if the object was removed", async () => {
  const slow = slowAdmission("DELETE");
  const { ask } = testServer(undefined, { admission: () => [slow.plugin] });
  await ask("POST", MAPS, { body: { metadata: { name: "m" }, data: {} } });
  const both = Promise.all([ask("DELETE", `${MAPS}/m`), ask("DELETE", `${MAPS}/m`)]);
  const answers = await letGoUntilDone(both, slow.letGo);
  expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, 404]);
  await ask("POST", MAPS, { body: { metadata: { name: "n" }, data: {} } });
  const going = ask("DELETE", `${MAPS}/n`);
  await ask("PATCH", `${MAPS}/n`, { body: { data: { v: "1" } }, type: MERGE });
  expect((await letGoUntilDone(going, slow.letGo)).status).toBe(200);
  expect(slow.asked()).toBe(4);
});

test("a collection is deleted one by one, waiting or not", async () => {
  const slow = slowAdmission("DELETE");
  const { ask } = testServer(undefined, { admission: () => [slow.plugin] });
  for (const name of ["a", "b", "c"]) await ask("POST", MAPS, { body: { metadata: { name } } });
  const answer = await letGoUntilDone(ask("DELETE", MAPS), slow.letGo);
  expect(answer.status).toBe(200);
  expect(slow.asked()).toBe(3);
  expect((await ask("GET", MAPS)).body).toMatchObject({ items: [] });
});

test("a change that admission rejects is not stored", async () => {
  const refusing: AdmissionPlugin = {
    name: "No",
    validate: ({ object, old }) =>
      (object ?? old)?.metadata.labels?.["kept"] === "yes" ? refuse({ code: 403, reason: "Forbidden", message: "no" }) : ok(undefined),
  };
  const { ask } = testServer(undefined, { admission: () => [refusing] });
  expect((await ask("POST", MAPS, { body: { metadata: { name: "m", labels: { kept: "yes" } } } })).body).toMatchObject({ message: "no" });
  expect((await ask("GET", `${MAPS}/m`)).status).toBe(404);
});
