/** Ports, methods and paths of an agreement: an invalid value is an error, and opens nothing. */
import { describe, expect, test } from "vitest";
import { entry, resolved } from "./resources.test-support.ts";

type Given = Parameters<typeof entry>[1];

const inbound = (params: Given["params"] & object): Given => ({ direction: "inbound", params });

describe("an agreement is narrowed by", () => {
  const rows: readonly { name: string; given: Given; want: object }[] = [
    { name: "nothing", given: inbound({}), want: { ports: undefined, methods: undefined, paths: undefined } },
    { name: "names and numbers of ports", given: inbound({ ports: ["http", 9000] }), want: { ports: ["http", 9000] } },
    { name: "a number as text", given: inbound({ ports: ["80"] }), want: { ports: [80] } },
    { name: "a template in a list", given: { params: { ports: ["${config.port}"] } }, want: { ports: [6000] } },
    { name: "ports of another service, which are not known here", given: { params: { ports: ["grpc"] } }, want: { ports: ["grpc"] } },
    { name: "methods", given: inbound({ methods: ["GET", "PROPFIND"] }), want: { methods: ["GET", "PROPFIND"] } },
    { name: "any method", given: inbound({ methods: ["*"] }), want: { methods: ["*"] } },
    {
      name: "paths, prefixes and suffixes",
      given: inbound({ paths: ["/", "/api/*", "*/health", "/a.b/{c}"] }),
      want: { paths: ["/", "/api/*", "*/health", "/a.b/{c}"] },
    },
    { name: "any path", given: inbound({ paths: ["*"] }), want: { paths: ["*"] } },
  ];
  test.each(rows)("$name", ({ given, want }) => {
    const { agreements, errors } = resolved([entry("x", given)]).finish();
    expect(errors).toEqual([]);
    expect(agreements.get("x")).toEqual({ ports: undefined, methods: undefined, paths: undefined, ...want });
  });
});

describe("an agreement is refused, and opens nothing, with", () => {
  const port = "it has http (80), admin (9000)";
  const path =
    'must begin with "/", have at most 1024 characters, no space, "?" or "#", and "*" only at one end, such as /api/* or */health';
  const rows: readonly { name: string; given: Given; want: string }[] = [
    { name: "no ports", given: inbound({ ports: [] }), want: "params.ports: must not be empty; leave it out to mean all ports" },
    { name: "no methods", given: inbound({ methods: [] }), want: "params.methods: must not be empty; leave it out to mean all methods" },
    { name: "no paths", given: inbound({ paths: [] }), want: "params.paths: must not be empty; leave it out to mean all paths" },
    { name: "a text for a list", given: inbound({ methods: "GET" }), want: "params.methods: must be a list, such as [GET]" },
    { name: "a number for a list", given: inbound({ ports: 80 }), want: "params.ports: must be a list, such as [http]" },
    { name: "null for a list", given: inbound({ ports: null }), want: "params.ports: must be a list, such as [http]" },
    { name: "a map for a list", given: { params: { paths: {} } }, want: "params.paths: must be a list, such as [/api/*]" },
    {
      name: "a port that this service does not have",
      given: inbound({ ports: ["htp"] }),
      want: `params.ports[0]: this service has no port "htp"; did you mean "http"?; ${port}`,
    },
    {
      name: "a number that this service does not have",
      given: inbound({ ports: ["http", 81] }),
      want: `params.ports[1]: this service has no port 81; ${port}`,
    },
    { name: "a port that is too high", given: { params: { ports: [65_536] } }, want: "params.ports[0]: 65536 must be between 1 and 65535" },
    { name: "half a port", given: { params: { ports: [1.5] } }, want: "params.ports[0]: 1.5 must be between 1 and 65535" },
    {
      name: "a name that no port has",
      given: { params: { ports: ["HTTP"] } },
      want: 'params.ports[0]: "HTTP" must be the name or the number of a port, such as http',
    },
    {
      name: "a port twice",
      given: inbound({ ports: ["http", "http"] }),
      want: 'params.ports[1]: "http" is in the list already; remove one of the two',
    },
    {
      name: "a method in lower case",
      given: inbound({ methods: ["get"] }),
      want: 'params.methods[0]: "get" must be an HTTP method in upper case, such as GET; did you mean "GET"?',
    },
    {
      name: "a method that is none",
      given: inbound({ methods: ["FETCH-IT"] }),
      want: 'params.methods[0]: "FETCH-IT" must be an HTTP method in upper case, such as GET',
    },
    {
      name: "any method and one",
      given: inbound({ methods: ["*", "GET"] }),
      want: 'params.methods: "*" means all; remove the others, or remove it',
    },
    ...["api", "*info", "*/a/*", "/a b", "/a?b=c", "/a#b", "/a/*/b", "https://a/b"].map((text) => ({
      name: `the path ${text}`,
      given: inbound({ paths: [text] }),
      want: `params.paths[0]: ${JSON.stringify(text)} ${path}`,
    })),
    {
      name: "a path without end",
      given: inbound({ paths: [`/${"a".repeat(100_000)}`] }),
      want: `params.paths[0]: "/${"a".repeat(62)}… ${path}`,
    },
    {
      name: "thousands of paths",
      given: inbound({ paths: Array.from({ length: 5_000 }, (_, at) => `/${at}`) }),
      want: "params.paths: must have at most 64 items, and has 5000",
    },
    { name: "an item that is a map", given: inbound({ methods: [{}] }), want: "params.methods[0]: must be a text, as in [GET]" },
    {
      name: "several mistakes",
      given: inbound({ ports: [], methods: ["get"] }),
      want: 'params.ports: must not be empty; leave it out to mean all ports; params.methods[0]: "get" must be an HTTP method in upper case, such as GET; did you mean "GET"?',
    },
  ];
  test.each(rows)("$name", ({ given, want }) => {
    const { agreements, errors } = resolved([entry("x", given)]).finish();
    expect(errors.map((error) => ("message" in error ? error.message : error.kind)).join("; ")).toBe(want);
    expect(agreements.has("x")).toBe(false);
  });
});

describe("two inbound resources for one peer", () => {
  const about = (params: Given["params"] & object): Given => ({ ...inbound(params), id: "web" });
  const seen = (first: Given, second: Given) => {
    const { agreements, errors } = resolved([entry("a", first), entry("b", second)]).finish();
    return {
      open: [...agreements.keys()],
      errors: errors.map((error) => (error.kind === "provisioner" ? `${error.name}: ${error.message}` : "")),
    };
  };

  test("may name different ports", () => {
    expect(seen(about({ ports: ["http"] }), about({ ports: ["admin"] }))).toEqual({ open: ["a", "b"], errors: [] });
  });

  test("with different methods or paths are both refused: combined they would open more than either declares", () => {
    const message = "resources 'a' and 'b' are both about prod/web with different params.methods or params.paths; use one resource for it";
    const refused = { open: [], errors: [`a: ${message}`, `b: ${message}`] };
    expect(seen(about({ methods: ["GET"] }), about({ methods: ["POST"] }))).toEqual(refused);
    expect(seen(about({ ports: ["http"], methods: ["GET"] }), about({ ports: ["admin"] }))).toEqual(refused);
    expect(seen(about({ paths: ["/a"] }), about({}))).toEqual(refused);
    expect(seen(about({ methods: ["GET", "PUT"] }), about({ methods: ["PUT", "GET"] }))).toEqual({ open: ["a", "b"], errors: [] });
  });

  test("of which one is invalid: the other is not widened", () => {
    expect(seen(about({ methods: ["GET"] }), about({ prots: ["http"] })).open).toEqual(["a"]);
  });
});
