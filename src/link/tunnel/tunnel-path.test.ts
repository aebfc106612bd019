import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseTunnelPath } from "./tunnel-path.ts";

describe("paths of API servers pass unchanged", () => {
  test.each([
    "/",
    "/?watch=true",
    "/api/v1/namespaces/default/pods?labelSelector=app%3Dx%2Ctier%20in%20(a)&limit=500",
    "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:controller:a",
    "/api/v1/namespaces/a/services/https:web:443/proxy/a%2Fb/",
    "/api/v1/namespaces/a/pods/x/exec?command=cat&command=../etc/hosts&command=%2e%2e",
    "/apis/x/v1/things/100%25",
    "/apis/x/v1/things/...",
    "/apis/x/v1/things/a..b",
  ])("%s", (path) => expect(parseTunnelPath(path)).toEqual({ ok: true, value: path }));
});

describe("paths that could leave the API server's root are refused", () => {
  test.each([
    { name: "empty", path: "" },
    { name: "without a slash", path: "api" },
    { name: "an absolute address", path: "https://10.0.0.1/api" },
    { name: "an authority", path: "//10.0.0.1/api" },
    { name: "an empty segment", path: "/api//v1" },
    { name: "the options form", path: "*" },
    { name: "dot segments", path: "/api/../metrics" },
    { name: "a dot segment at the end", path: "/api/.." },
    { name: "a single dot", path: "/api/./v1" },
    { name: "encoded dots", path: "/api/%2e%2e/metrics" },
    { name: "encoded dots in capitals", path: "/api/%2E%2E/metrics" },
    { name: "half encoded dots", path: "/api/.%2e/metrics" },
    { name: "encoded slashes", path: "/api/..%2fmetrics" },
    { name: "encoded backslashes", path: "/api/..%5cmetrics" },
    { name: "dots encoded twice", path: "/api/%252e%252e/metrics" },
    { name: "dots encoded three times", path: "/api/%25252e%25252e/metrics" },
    { name: "dots with parameters", path: "/api/..;a=b/metrics" },
    { name: "encoding without an end", path: `/api/%${"25".repeat(20)}2e` },
    { name: "a backslash", path: "/api\\..\\metrics" },
    { name: "a line break", path: "/api\r\nhost: evil" },
    { name: "an encoded line break", path: "/api%0d%0ahost:%20evil" },
    { name: "an encoded NUL", path: "/api%00" },
    { name: "a space", path: "/api /v1" },
    { name: "a fragment", path: "/api#x" },
    { name: "a letter beyond ASCII", path: "/apı" },
    { name: "an invalid encoding", path: "/api/%zz" },
    { name: "a cut off encoding", path: "/api/%2" },
    { name: "a path that is too long", path: `/${"a".repeat(40_000)}` },
  ])("$name", ({ path }) => expect(parseTunnelPath(path)).toMatchObject({ ok: false }));
});

test("no accepted path resolves to another one", () => {
  const piece = fc.constantFrom("a", "/", ".", "..", "%2e", "%2F", "%5c", "%25", "2e", "?", ";", "\\", "%", "\r", ":");
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const raw = `/${pieces.join("")}`;
      const parsed = parseTunnelPath(raw);
      if (!parsed.ok) return;
      const url = new URL(raw, "https://api.test");
      expect([url.host, url.pathname + url.search]).toEqual(["api.test", raw.endsWith("?") && url.search === "" ? raw.slice(0, -1) : raw]);
    }),
    { numRuns: 2_000 },
  );
});
