import { describe, expect, it } from "vitest";
import { expectOk } from "#base";
import { serviceYaml, worldOf } from "../../test/builders/world.ts";
import { formatAnswers } from "./answer-text.ts";
import { compileAll } from "./compile-all.ts";
import { formatGraph } from "./graph-view.ts";
import { why, type WhyQuestion } from "./why.ts";

const external =
  "apiVersion: lattice.dev/v1alpha1\nkind: LatticeExternalService\nmetadata: {name: stripe, namespace: shop}\nspec: {endpoints: {default: 'https://api.stripe.com', files: 'https://files.stripe.com:8443'}, allowedRequesters: [pay]}\n";
const mainframe =
  "apiVersion: lattice.dev/v1alpha1\nkind: LatticeExternalService\nmetadata: {name: mainframe, namespace: shop}\nspec: {resolution: static, endpoints: {default: 'tcp://10.1.2.3:3270'}, allowedRequesters: [dev/lonely]}\n";

const world = worldOf(
  [
    serviceYaml("web", { calls: ["api", "mute"], calledBy: ["pay"] }),
    serviceYaml("api", { calledBy: ["web"], spec: "    pay: {direction: inbound, params: {ports: [admin]}}\n" }).replace(
      "{http: {port: 8080}}",
      "{http: {port: 8080}, admin: {port: 9000}}",
    ),
    serviceYaml("pay", { calls: ["api"], spec: "    stripe: {type: external-service}\n    ledger: {type: postgres}\n" }),
    serviceYaml("mute").replace("  service: {ports: {http: {port: 8080}}}\n", ""),
    serviceYaml("dev/lonely"),
    serviceYaml("dev/web", { spec: "  resources:\n    web: {direction: inbound}\n" }),
    serviceYaml("dev/broken", { spec: "  resources:\n    x: {type: nonsense}\n" }),
    external,
    mainframe,
  ],
  { placeholderSecrets: true },
);

const ask = (from: string, to: string, more: Partial<WhyQuestion> = {}) => expectOk(why(world, { from, to, ...more }));
const text = (from: string, to: string, more: Partial<WhyQuestion> = {}) => formatAnswers(ask(from, to, more));

describe("an answer", () => {
  it("that is open lists the enforcement points and their policies", () => {
    expect(text("shop/web", "api")).toBe(
      `shop/web -> shop/api:9000, 8080 is open

  L4  yes  leaves shop/web        CiliumNetworkPolicy shop/web
  L4  yes  enters shop/api        CiliumNetworkPolicy shop/api
  L7  yes  is let in at shop/api  AuthorizationPolicy shop/api
`,
    );
  });

  it("that is closed lists the layer, the missing declaration and the YAML to add", () => {
    expect(text("lonely", "shop/web")).toBe(
      `dev/lonely -> shop/web:8080 is closed

  L4  NO   leaves dev/lonely      CiliumNetworkPolicy dev/lattice-default-deny, dev/lonely do not allow it
  L4  NO   enters shop/web        CiliumNetworkPolicy shop/lattice-default-deny, shop/web do not allow it
  L7  NO   is let in at shop/web  AuthorizationPolicy shop/lattice-default-deny does not allow it

dev/lonely does not declare that it calls shop/web. Add to LatticeService dev/lonely:

    spec:
      resources:
        web:
          type: service
          direction: outbound
          id: shop/web

shop/web does not declare that dev/lonely may call it. Add to LatticeService shop/web:

    spec:
      resources:
        lonely:
          type: service
          direction: inbound
          id: dev/lonely
`,
    );
  });

  it("includes the file, if known", () => {
    expect(formatAnswers(ask("lonely", "shop/web"), { places: new Map([["shop/web", "web.yaml"]]) })).toContain(
      "Add to LatticeService shop/web (web.yaml):",
    );
  });

  it("changes a declaration of one direction to both", () => {
    expect(text("shop/web", "pay")).toContain("pay:\n          type: service\n          direction: both");
  });

  it("does not reuse a resource name that refers to another peer", () => {
    expect(text("dev/lonely", "dev/web")).toContain("        lonely:");
    expect(text("shop/web", "dev/web")).toContain(
      "        web-inbound:\n          type: service\n          direction: inbound\n          id: shop/web",
    );
  });

  it("reports when both sides declare the call, but not this port", () => {
    expect(ask("pay", "api", { port: "http" })).toMatchObject([
      {
        port: 8080,
        open: false,
        missing: [],
        notes: ["shop/api lists ports for shop/pay in params.ports, and http (8080) is not among them"],
      },
    ]);
    expect(ask("pay", "api", { port: "9000" })).toMatchObject([{ port: 9000, open: true, notes: [] }]);
  });

  it("reports when the callee has no port", () => {
    expect(text("shop/web", "mute")).toContain("shop/mute offers no port; add one in its spec.service.ports.");
  });

  it("reports when one of them is not compiled", () => {
    expect(text("dev/broken", "dev/web")).toContain(
      "one of the two has an error and is not compiled; run lattice compile to see the error.",
    );
    expect(formatAnswers(expectOk(why(world, { from: "dev/broken", to: "dev/web" }, [])))).toContain(
      "one of the two does not run in the cluster",
    );
    expect(text("dev/broken", "stripe")).toContain("dev/broken has an error and is not compiled");
  });

  it("uses the objects of a cluster, if given", () => {
    const { namespaces, objects } = compileAll(world);
    const open = objects.filter(({ kind }) => !["CiliumNetworkPolicy", "AuthorizationPolicy"].includes(kind));
    const answer = expectOk(
      why(world, { from: "dev/lonely", to: "shop/web" }, [...namespaces.filter(({ kind }) => kind === "Namespace"), ...open]),
    );
    expect(answer).toMatchObject([{ open: true, missing: [] }]);
    expect(formatAnswers(answer)).toContain("L4  yes  leaves dev/lonely      no CiliumNetworkPolicy applies there");
  });
});

describe("an external service", () => {
  it("is checked by host and port", () => {
    expect(ask("pay", "stripe").map(({ to, port, open }) => ({ to, port, open }))).toEqual([
      { to: "shop/stripe (api.stripe.com)", port: 443, open: true },
      { to: "shop/stripe (files.stripe.com)", port: 8443, open: true },
    ]);
    expect(ask("pay", "stripe", { port: "8443" })).toHaveLength(1);
    expect(why(world, { from: "pay", to: "stripe", port: "1" })).toEqual({
      ok: false,
      error: "shop/stripe has no port 1; it has default (443), files (8443)",
    });
  });

  it("needs the declarations of both sides", () => {
    expect(text("shop/web", "stripe", { port: "443" })).toContain(
      "shop/stripe does not list shop/web in spec.allowedRequesters. Add to LatticeExternalService shop/stripe:\n\n    spec:\n      allowedRequesters:\n        - web\n",
    );
    expect(text("dev/lonely", "mainframe")).toContain(
      "type: external-service\n          direction: outbound\n          id: shop/mainframe",
    );
    expect(text("dev/lonely", "mainframe")).not.toContain("does not list");
    expect(text("dev/web", "mainframe")).toContain("        - dev/web");
  });

  it("that Lattice does not run needs one declaration only", () => {
    for (const name of ["ledger-postgres", "shop/ledger-postgres"])
      expect(text("pay", name)).toContain("shop/pay -> shop/ledger-postgres:5432 is open\n\nshop/ledger-postgres is not a Lattice service");
  });
});

describe("requests", () => {
  const narrow = worldOf([
    serviceYaml("web", { calls: ["api", "files"] }),
    serviceYaml("api", { spec: "  resources:\n    web: {direction: inbound, params: {methods: [GET], paths: [/public/*]}}\n" }),
    serviceYaml("files", { spec: "  resources:\n    web: {direction: inbound, params: {paths: [/a]}}\n" }),
  ]);

  it("that the callee does not allow are closed at the waypoint, with a note about the allowed ones", () => {
    const get = expectOk(why(narrow, { from: "web", to: "api", method: "GET", path: "/public/x" }));
    const post = expectOk(why(narrow, { from: "web", to: "api", method: "POST", path: "/public/x" }));
    expect([get, post].map(([answer]) => answer?.open)).toEqual([true, false]);
    expect(formatAnswers(post)).toContain("L7  NO   passes shop/waypoint");
    expect(formatAnswers(post)).toContain("past the waypoint");
    expect(formatAnswers(post)).toContain("shop/api accepts from shop/web only GET on /public/*.");
    expect(formatAnswers(expectOk(why(narrow, { from: "web", to: "files" })))).toContain("only any method on /a.");
  });
});

describe("names", () => {
  it.each([
    { name: "a misspelled name", from: "pya", to: "api", want: 'there is no service pya; did you mean "pay"?' },
    {
      name: "a misspelled name with a namespace",
      from: "shop/pay",
      to: "shop/apo",
      want: 'there is no shop/apo; did you mean "shop/api"?',
    },
    { name: "a name in several namespaces", from: "web", to: "api", want: "web is in several namespaces; write one of dev/web, shop/web" },
    {
      name: "an external service as the caller",
      from: "stripe",
      to: "api",
      want: "shop/stripe is an external service, and makes no calls",
    },
    {
      name: "a port that does not exist",
      from: "pay",
      to: "api",
      port: "1",
      want: "shop/api has no port 1; it has admin (9000), http (8080)",
    },
  ])("$name", ({ from, to, port, want }) => {
    expect(why(world, { from, to, port })).toEqual({ ok: false, error: want });
  });

  it("may use the source namespace of a service", () => {
    const placed = worldOf([
      "apiVersion: lattice.dev/v1alpha1\nkind: LatticeEnvironment\nmetadata: {name: prod}\nspec: {sourceNamespaces: [team]}\n",
      serviceYaml("team/a", { spec: "  environment: prod\n" }),
    ]);
    expect(expectOk(why(placed, { from: "team/a", to: "a" }))).toMatchObject([{ from: "prod/a", to: "prod/a" }]);
  });
});

describe("the graph", () => {
  const small = worldOf([
    serviceYaml("a", { calls: ["b", "c"], spec: "    x: {type: redis}\n" }),
    serviceYaml("b", { calledBy: ["a"] }),
    external.replace("[pay]", "[a]"),
    serviceYaml("d", { spec: "  resources:\n    stripe: {type: external-service}\n" }),
  ]);

  it("is a text table", () => {
    expect(formatGraph(small, "text")).toBe(
      `shop/a  ->  shop/b:8080        open
shop/a  ->  shop/c             closed: there is no such callee
shop/a  ->  shop/x-redis:6379  open on the caller's side only
shop/d  ->  shop/stripe        closed: the external service does not name the caller
`,
    );
    expect(formatGraph(worldOf(serviceYaml("a")), "text")).toBe("no edges are declared\n");
  });

  it("is a picture for Graphviz", () => {
    const dot = formatGraph(small, "dot");
    expect(dot).toContain('  "shop/stripe" [shape=cloud];');
    expect(dot).toContain('  "shop/a" -> "shop/b" [style=solid, color=black, label="8080"];');
    expect(dot).toContain('  "shop/a" -> "shop/c" [style=dashed, color=red, label=""];');
  });

  it("is JSON", () => {
    expect(JSON.parse(formatGraph(small, "json"))).toMatchObject({
      nodes: [{ id: "shop/a", kind: "service" }, { id: "shop/b" }, { id: "shop/d" }, { id: "shop/stripe", kind: "external" }],
      edges: [
        { caller: "shop/a", callee: "shop/b", open: true, state: "agreed", ports: [8080] },
        { callee: "shop/c", open: false, state: "unknown-callee" },
        { callee: "shop/x-redis", open: true, ports: [6379] },
        { caller: "shop/d", open: false },
      ],
    });
  });
});

describe("policies of a cluster that were written for another trust domain", () => {
  const texts = [serviceYaml("a", { calls: ["b"] }), serviceYaml("b", { calledBy: ["a"] })];
  const { namespaces, objects } = compileAll(worldOf(texts, { settings: { trustDomain: "corp.example" } }));
  const cluster = [...namespaces, ...objects];

  it("appear closed, and the answer names the trust domain to use", () => {
    const [answer] = expectOk(why(worldOf(texts), { from: "a", to: "b" }, cluster));
    expect(answer).toMatchObject({
      open: false,
      missing: [],
      notes: [
        "the policies in the cluster name shop/a in trust domain corp.example, not cluster.local; run the command again with --trust-domain corp.example",
      ],
    });
  });

  it("are open with that trust domain", () => {
    const asked = worldOf(texts, { settings: { trustDomain: "corp.example" } });
    expect(expectOk(why(asked, { from: "a", to: "b" }, cluster))).toMatchObject([{ open: true, notes: [] }]);
  });

  it("have no such note when no policy names the caller", () => {
    const [answer] = expectOk(why(worldOf(texts), { from: "b", to: "a" }, cluster));
    expect(answer).toMatchObject({ open: false, notes: [] });
  });
});
