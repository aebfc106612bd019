/** What a kube-apiserver 1.36 with `--client-ca-file` and without a front proxy publishes, compared by hand with a real one. */
import { expect, test } from "vitest";
import { expectOk } from "#base";
import { fieldAt, type Json } from "#kube";
import { createCertificateAuthority } from "#pki";
import { guardedServer } from "../../rest/server.test-support.ts";

const MAP = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
const YEAR_MS = 365 * 86_400_000;
const root = (commonName: string, years = 1) => {
  const notAfter = new Date(Date.now() + years * YEAR_MS);
  return expectOk(createCertificateAuthority({ commonName, notBefore: new Date(Date.now() - 3 * YEAR_MS), notAfter })).certificate;
};
const [one, two, expired] = [root("one"), root("two"), root("expired", -1)];
const OWN = { "f:data": { ".": {}, "f:client-ca-file": {} } };

function world() {
  const { ask, server } = guardedServer();
  const get = async () => (await ask("GET", MAP)).body;
  return {
    server,
    publish: (pem: string) => server.publishClientAuthority?.(pem),
    get,
    data: async () => fieldAt(await get(), "data"),
    patch: (body: Json) => ask("PATCH", MAP, { body, headers: { "content-type": "application/merge-patch+json" } }),
    remove: () => ask("DELETE", MAP),
  };
}

test("the authority of clients is published once, and again only when it has changed", async () => {
  const { server, publish, get, data } = world();
  expect(await data()).toBeUndefined();
  const { uid } = ((await get()) as { metadata: { uid: string } }).metadata;
  publish(one);
  expect(await get()).toMatchObject({
    metadata: { uid, managedFields: [{ manager: "kube-apiserver", operation: "Update", fieldsV1: OWN }] },
    data: { "client-ca-file": one },
  });
  const { revision } = server.store;
  publish(one);
  expect(server.store.revision).toBe(revision);
});

test("authorities that are published already are kept until they expire", async () => {
  const { publish, patch, data } = world();
  await patch({ data: { "client-ca-file": expired + two } });
  publish(one);
  expect(await data()).toEqual({ "client-ca-file": two + one });
});

test("a deleted ConfigMap is published again", async () => {
  const { publish, remove, data } = world();
  publish(one);
  expect((await remove()).status).toBe(200);
  expect(await data()).toEqual({ "client-ca-file": one });
});

test("other data is removed; labels and their owners are kept", async () => {
  const { publish, patch, get } = world();
  publish(one);
  await patch({ metadata: { labels: { own: "label" } }, data: { own: "data" } });
  expect(await get()).toMatchObject({
    metadata: {
      labels: { own: "label" },
      managedFields: [
        { manager: "kube-apiserver", fieldsV1: OWN },
        { fieldsV1: { "f:metadata": { "f:labels": { ".": {}, "f:own": {} } } } },
      ],
    },
    data: { "client-ca-file": one },
  });
  await patch({ data: { own: "data" } });
  expect(fieldAt(await get(), "data")).toEqual({ "client-ca-file": one });
});

test("a text that is no bundle of certificates is left unchanged", async () => {
  const { publish, patch, data } = world();
  publish(one);
  await patch({ data: { "client-ca-file": "garbage" } });
  expect(await data()).toEqual({ "client-ca-file": "garbage" });
});

test("nothing is published after the server has been closed", async () => {
  const { server, publish, remove, get } = world();
  publish(one);
  server.close();
  await remove();
  expect(await get()).toMatchObject({ code: 404 });
});
