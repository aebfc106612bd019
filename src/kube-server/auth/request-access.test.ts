import fc from "fast-check";
import { expect, test } from "vitest";
import { map } from "#base";
import { requestInfoOf } from "../protocol/request-info.ts";
import { accessOf } from "./request-access.ts";

const ask = (method: string, url: string) => {
  const mark = url.indexOf("?");
  const [path, query] = mark < 0 ? [url, ""] : [url.slice(0, mark), url.slice(mark + 1)];
  return map(requestInfoOf({ method, path, query: new URLSearchParams(query) }), accessOf);
};
const resource = (verb: string, more: object = {}) => ({
  ok: true,
  value: { kind: "resource", verb, group: "", version: "v1", resource: "pods", subresource: undefined, namespace: "n", name: "", ...more },
});

const rows: readonly { readonly name: string; readonly given: readonly [string, string]; readonly want: object }[] = [
  { name: "a list", given: ["GET", "/api/v1/namespaces/n/pods"], want: resource("list") },
  { name: "a list of all namespaces", given: ["GET", "/api/v1/pods"], want: resource("list", { namespace: undefined }) },
  { name: "a watch", given: ["GET", "/api/v1/namespaces/n/pods?watch=1"], want: resource("watch") },
  { name: "watch=false", given: ["GET", "/api/v1/namespaces/n/pods?watch=false"], want: resource("list") },
  { name: "a watch by the deprecated path", given: ["GET", "/api/v1/watch/namespaces/n/pods/p"], want: resource("watch", { name: "p" }) },
  { name: "one object", given: ["GET", "/api/v1/namespaces/n/pods/p"], want: resource("get", { name: "p" }) },
  { name: "one object by HEAD", given: ["HEAD", "/api/v1/namespaces/n/pods/p"], want: resource("get", { name: "p" }) },
  { name: "a new object", given: ["POST", "/api/v1/namespaces/n/pods"], want: resource("create") },
  { name: "a replacement", given: ["PUT", "/api/v1/namespaces/n/pods/p"], want: resource("update", { name: "p" }) },
  { name: "a patch", given: ["PATCH", "/api/v1/namespaces/n/pods/p"], want: resource("patch", { name: "p" }) },
  { name: "a deletion", given: ["DELETE", "/api/v1/namespaces/n/pods/p"], want: resource("delete", { name: "p" }) },
  { name: "the deletion of a collection", given: ["DELETE", "/api/v1/namespaces/n/pods"], want: resource("deletecollection") },
  { name: "an unknown method", given: ["TRACE", "/api/v1/namespaces/n/pods"], want: resource("") },
  { name: "a subresource", given: ["GET", "/api/v1/namespaces/n/pods/p/log/x"], want: resource("get", { name: "p", subresource: "log" }) },
  {
    name: "a namespace, which counts as its own namespace",
    given: ["GET", "/api/v1/namespaces/n"],
    want: resource("get", { resource: "namespaces", name: "n" }),
  },
  {
    name: "a subresource of a namespace",
    given: ["PUT", "/api/v1/namespaces/n/finalize"],
    want: resource("update", { resource: "namespaces", name: "n", subresource: "finalize" }),
  },
  {
    name: "a group that is not served",
    given: ["GET", "/apis/nope.io/v2/things/t"],
    want: resource("get", { group: "nope.io", version: "v2", resource: "things", namespace: undefined, name: "t" }),
  },
  {
    name: "a list of one name",
    given: ["GET", "/api/v1/namespaces/n/pods?fieldSelector=metadata.name%3Dp"],
    want: resource("list", { name: "p" }),
  },
  { name: "a list of other names", given: ["GET", "/api/v1/namespaces/n/pods?fieldSelector=metadata.name%21%3Dp"], want: resource("list") },
  {
    name: "a list of an invalid name",
    given: ["GET", "/api/v1/namespaces/n/pods?fieldSelector=metadata.name%3Da%2Fb"],
    want: resource("list"),
  },
  { name: "a list with an invalid selector", given: ["GET", "/api/v1/namespaces/n/pods?fieldSelector=nonsense"], want: resource("list") },
  {
    name: "a deletion gets no name from its selector",
    given: ["DELETE", "/api/v1/namespaces/n/pods?fieldSelector=metadata.name%3Dp"],
    want: resource("deletecollection"),
  },
  {
    name: "an encoded slash separates",
    given: ["GET", "/api/v1/namespaces/n/pods/p%2Flog"],
    want: resource("get", { name: "p", subresource: "log" }),
  },
  {
    name: "a malformed escape, which is rejected before authorization",
    given: ["GET", "/api/v1/namespaces/n/pods/%"],
    want: { ok: false, error: { kind: "malformed-path" } },
  },
  {
    name: "a write below /watch/, which is authorized as watch and not allowed",
    given: ["POST", "/api/v1/watch/namespaces/n/pods"],
    want: resource("watch"),
  },
  {
    name: "a second watch prefix, which is a resource",
    given: ["GET", "/api/v1/watch/watch/pods"],
    want: resource("watch", { resource: "watch", namespace: undefined, name: "pods" }),
  },
  { name: "slashes around", given: ["GET", "//api/v1/namespaces/n/pods/"], want: resource("list") },
  { name: "an empty namespace", given: ["GET", "/api/v1/namespaces//pods"], want: resource("list", { namespace: undefined }) },
  { name: "discovery", given: ["GET", "/apis/apps/v1"], want: { ok: true, value: { kind: "path", verb: "get", path: "/apis/apps/v1" } } },
  { name: "health", given: ["POST", "/healthz"], want: { ok: true, value: { kind: "path", verb: "post", path: "/healthz" } } },
  { name: "the root", given: ["GET", "/"], want: { ok: true, value: { kind: "path", verb: "get", path: "/" } } },
  {
    name: "a watch without a resource",
    given: ["GET", "/api/v1/watch?a=b"],
    want: {
      ok: false,
      error: {
        kind: "no-resource",
        message:
          'Internal Server Error: "/api/v1/watch?a=b": failed to create RequestInfo: unable to determine kind and namespace from url, /api/v1/watch?a=b\n',
      },
    },
  },
];

test.each(rows)("$name", ({ given: [method, url], want }) => {
  expect(ask(method, url)).toEqual(want);
});

test("every path has a result", () => {
  fc.assert(fc.property(fc.constantFrom("GET", "POST", "DELETE", "X"), fc.webPath(), (method, path) => void ask(method, path)));
});
