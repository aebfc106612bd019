/**
 * Assertions about reachability, for CI: "nothing in dev reaches payments". Every pair that the patterns match is checked against
 * the compiled policies; a pattern that matches no service fails, because an assertion about no service always holds.
 */
import { err, ok, type Result } from "#base";
import { didYouMean } from "#crds";
import { field, isJsonObject, type Json, type KubeObject } from "#kube";
import { outgoing, splitId, type DataPlane, type MeshNode, type ServiceGraph, type ServiceNode } from "#mesh-compiler";
import { planeOf } from "./plane.ts";
import type { World } from "./world.ts";

/** An expectation about which services reach which. */
export type Assertion = {
  /** Name in reports; absent: the patterns. */
  readonly name?: string;
  /** `namespace/name`, where `*` matches any text: `dev/*`. */
  readonly from: string;
  /** The same, optionally with one port by number or name: `payments/*:8080`. */
  readonly to: string;
  readonly expect: "open" | "closed";
  /** Callers to exclude: `[shop/payments]`. */
  readonly except?: readonly string[];
  /** Whether the patterns may match no service. */
  readonly mayBeEmpty?: boolean;
};

/** The result of an assertion. */
export type AssertionResult = {
  readonly assertion: Assertion;
  readonly holds: boolean;
  /** Number of pairs and ports that were checked. */
  readonly asked: number;
  /** One sentence per contradiction: `dev/probe -> payments/ledger:8080 is open`. */
  readonly because: readonly string[];
};

const FIELDS = ["name", "from", "to", "expect", "except", "mayBeEmpty"];

/**
 * Reads assertions from a document: a list, or a map with the list under `assertions`. Returns all mistakes at once.
 *
 * @example
 * parseAssertions([{ name: "dev stays out", from: "dev/*", to: "payments/*", expect: "closed" }])
 */
export function parseAssertions(value: Json): Result<readonly Assertion[], readonly string[]> {
  const list = Array.isArray(value) ? (value as readonly Json[]) : field(value, "assertions");
  if (!Array.isArray(list)) return err(["it must be a list of {from, to, expect}, or a map with such a list under assertions"]);
  const problems = list.flatMap((item: Json, at) => problemsOf(item).map((text) => `assertion ${at + 1}: ${text}`));
  return problems.length > 0 ? err(problems) : ok(list as unknown as readonly Assertion[]);
}

function problemsOf(item: Json): readonly string[] {
  if (!isJsonObject(item)) return ["must be a map with from, to and expect"];
  const { from, to, expect, except = [], name, mayBeEmpty } = item;
  const unknown = Object.keys(item).filter((key) => !FIELDS.includes(key));
  return [
    ...unknown.map((key) => `unknown field ${key}${didYouMean(key, FIELDS)}`),
    ...(isPattern(from) ? [] : ["from must be namespace/name, where * stands for anything, such as dev/*"]),
    ...(isPattern(to) ? [] : ["to must be namespace/name, where * stands for anything, and may end with :port"]),
    ...(expect === "open" || expect === "closed" ? [] : ["expect must be open or closed"]),
    ...(Array.isArray(except) && except.every((one: Json) => isPattern(one)) ? [] : ["except must be a list of namespace/name"]),
    ...(name === undefined || typeof name === "string" ? [] : ["name must be a text"]),
    ...(mayBeEmpty === undefined || typeof mayBeEmpty === "boolean" ? [] : ["mayBeEmpty must be true or false"]),
  ];
}

function isPattern(value: Json | undefined): boolean {
  return typeof value === "string" && /^[a-z0-9*.-]+\/[a-z0-9*.-]+(:[a-z0-9-]+)?$/.test(value);
}

/**
 * Checks assertions against the policies of a world. `objects` are those of a cluster; absent: the compiled objects of the world.
 *
 * @example
 * const failed = checkAssertions(world, [{ from: "dev/*", to: "payments/*", expect: "closed" }]).filter(({ holds }) => !holds);
 */
export function checkAssertions(
  world: World,
  assertions: readonly Assertion[],
  objects?: readonly KubeObject[],
): readonly AssertionResult[] {
  const plane = planeOf(world, objects);
  const nodes = [...world.mesh.graph.nodes()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return assertions.map((assertion) => check(assertion, { plane, nodes, graph: world.mesh.graph }));
}

type Place = { readonly plane: DataPlane; readonly nodes: readonly MeshNode[]; readonly graph: ServiceGraph };

function check(assertion: Assertion, { plane, nodes, graph }: Place): AssertionResult {
  const { target, port } = splitTarget(assertion.to);
  const callers = nodes.flatMap((node) => (node.kind === "service" && isCaller(assertion, node.id) ? [node] : []));
  const callees = nodes.filter(({ id }) => matches(target, id));
  const answers = callers.flatMap((caller) => [
    ...callees.filter(({ id }) => caller.id !== id || isExact(assertion.from)).flatMap((callee) => askAll(plane, caller, callee, port)),
    ...askManaged(graph, caller, target, port),
  ]);
  const unmatched = [...(callers.length === 0 ? [assertion.from] : []), ...(callees.length === 0 && answers.length === 0 ? [target] : [])];
  const against = answers
    .filter(({ open }) => open !== (assertion.expect === "open"))
    .map(({ text, open }) => `${text} is ${openWord(open)}`);
  const silent = answers.length === 0 && unmatched.length === 0 ? ["no matching service has a port to check"] : [];
  const because = [
    ...(assertion.mayBeEmpty === true ? [] : [...unmatched.map((pattern) => `${pattern} matches no service`), ...silent]),
    ...against,
  ];
  return { assertion, holds: because.length === 0, asked: answers.length, because };
}

function isCaller({ from, except = [] }: Assertion, id: string): boolean {
  return matches(from, id) && !except.some((pattern) => matches(pattern, id));
}

function openWord(open: boolean | undefined): string {
  return open === undefined ? "not known: one of the two is not compiled" : open ? "open" : "closed";
}

function splitTarget(to: string): { readonly target: string; readonly port: string | undefined } {
  const colon = to.lastIndexOf(":");
  return colon < 0 ? { target: to, port: undefined } : { target: to.slice(0, colon), port: to.slice(colon + 1) };
}

function isExact(pattern: string): boolean {
  return !pattern.includes("*");
}

function matches(pattern: string, id: string): boolean {
  const [own, given] = [splitId(pattern), splitId(id)];
  return globMatches(own.namespace, given.namespace) && globMatches(own.name, given.name);
}

function globMatches(pattern: string, text: string): boolean {
  const escaped = pattern.split("*").map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`^${escaped.join("[^/]*")}$`).test(text);
}

type Asked = { readonly text: string; readonly open: boolean | undefined };

function askAll(plane: DataPlane, caller: ServiceNode, callee: MeshNode, port: string | undefined): readonly Asked[] {
  if (callee.kind === "external") {
    return callee.endpoints
      .filter((one) => port === undefined || port === one.name || port === String(one.port))
      .map(({ host, port: number }) => {
        const address = callee.resolution === "static" ? host.replace(/^\[|\]$/g, "") : undefined;
        return {
          text: `${caller.id} -> ${callee.id} (${host}:${number})`,
          open: plane.askOutside(caller.id, { kind: "outside", host, address }, number)?.open,
        };
      });
  }
  return callee.ports
    .filter((one) => port === undefined || port === one.name || port === String(one.port))
    .map(({ port: number }) => ({
      text: `${caller.id} -> ${callee.id}:${number}`,
      open: plane.ask({ from: caller.id, to: callee.id, port: number })?.open,
    }));
}

/** A database that Lattice does not run has no inbound declaration: the caller's declaration alone opens its egress. */
function askManaged(graph: ServiceGraph, caller: ServiceNode, target: string, port: string | undefined): readonly Asked[] {
  return outgoing(graph, caller)
    .managed.filter((one) => matches(target, one.peer) && (port === undefined || port === String(one.port)))
    .map((one) => ({ text: `${caller.id} -> ${one.peer}:${one.port} (not a Lattice service)`, open: true }));
}

/**
 * Results for a terminal: one line each, followed by the contradictions.
 *
 * @example process.stdout.write(formatAssertions(checkAssertions(world, assertions)));
 */
export function formatAssertions(results: readonly AssertionResult[]): string {
  const lines = results.flatMap(({ assertion, holds, asked, because }) => [
    `${holds ? "ok  " : "FAIL"}  ${assertion.name ?? `${assertion.from} -> ${assertion.to} is ${assertion.expect}`}  (${asked} checked)`,
    ...because.slice(0, MOST_SHOWN).map((text) => `        ${text}`),
    ...(because.length > MOST_SHOWN ? [`        and ${because.length - MOST_SHOWN} more`] : []),
  ]);
  const failed = results.filter(({ holds }) => !holds).length;
  return `${lines.join("\n")}\n${failed === 0 ? `${results.length} hold` : `${failed} of ${results.length} do not hold`}\n`;
}

const MOST_SHOWN = 20;
