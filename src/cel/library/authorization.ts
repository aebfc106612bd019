/**
 * Questions to the authorizer: `authorizer.group('apps').resource('deployments').check('create').allowed()`.
 *
 * The functions are declared for every expression; only those of admission get an `authorizer` to call them on. The engine knows nothing of
 * users: whoever makes the first value says what a question means.
 */
import { dnsLabelProblems, dnsSubdomainProblems } from "#kube";
import type { AuthorizationContent, CelAuthorizer, ResourceQuestion } from "../authorizer.ts";
import { declare, type Declarations, type Evaluate, type Row } from "../declarations.ts";
import { CelOpaque, failure, NO_SUCH_OVERLOAD, type CelValue, type OpaqueContent } from "../values.ts";

export function authorizerValue(asks: CelAuthorizer): CelValue {
  return new CelOpaque({ of: "authorizer", asks });
}

export function resourceCheckValue(asks: CelAuthorizer, question: ResourceQuestion): CelValue {
  return new CelOpaque({ of: "resourceCheck", asks, question });
}

type Of<K extends AuthorizationContent["of"]> = Extract<AuthorizationContent, { readonly of: K }>;

/** A method on one kind of value, with texts as arguments. */
function method<K extends AuthorizationContent["of"]>(of: K, run: (content: Of<K>, first: string, second: string) => CelValue): Evaluate {
  return (target = null, first = "", second = "") => {
    if (!(target instanceof CelOpaque) || !isOf(target.content, of)) return NO_SUCH_OVERLOAD;
    return typeof first === "string" && typeof second === "string" ? run(target.content, first, second) : NO_SUCH_OVERLOAD;
  };
}

function isOf<K extends AuthorizationContent["of"]>(content: OpaqueContent, of: K): content is Of<K> {
  return content.of === of;
}

function isBlank(text: string): boolean {
  return text.trim() === "";
}

function serviceAccount({ asks }: Of<"authorizer">, namespace: string, name: string): CelValue {
  if (dnsSubdomainProblems(name).length > 0) return failure("Invalid service account name");
  if (dnsLabelProblems(namespace).length > 0) return failure("Invalid service account namespace");
  return authorizerValue(asks.forServiceAccount(namespace, name));
}

function resourceOf({ asks, group }: Of<"groupCheck">, resource: string): CelValue {
  if (isBlank(resource)) return failure("resource must not be empty");
  return resourceCheckValue(asks, { group, resource, subresource: "", namespace: "", name: "" });
}

/** The same question about something narrower. */
function narrowed(part: "subresource" | "namespace" | "name"): Evaluate {
  return method("resourceCheck", ({ asks, question }, text) => resourceCheckValue(asks, { ...question, [part]: text }));
}

/** No authorizer here decides by selectors, so they narrow nothing. */
const unchanged: Evaluate = method("resourceCheck", (content) => new CelOpaque(content));

function decision(answer: { readonly allowed: boolean; readonly reason: string }): CelValue {
  return new CelOpaque({ of: "decision", allowed: answer.allowed, reason: answer.reason });
}

const ROWS: readonly Row[] = [
  [
    "authorizer_path",
    "<Authorizer> path(string) -> PathCheck",
    method("authorizer", ({ asks }, path) =>
      isBlank(path) ? failure("path must not be empty") : new CelOpaque({ of: "pathCheck", asks, path }),
    ),
  ],
  [
    "authorizer_group",
    "<Authorizer> group(string) -> GroupCheck",
    method("authorizer", ({ asks }, group) => new CelOpaque({ of: "groupCheck", asks, group })),
  ],
  ["authorizer_serviceaccount", "<Authorizer> serviceAccount(string, string) -> Authorizer", method("authorizer", serviceAccount)],
  ["groupcheck_resource", "<GroupCheck> resource(string) -> ResourceCheck", method("groupCheck", resourceOf)],
  ["resourcecheck_subresource", "<ResourceCheck> subresource(string) -> ResourceCheck", narrowed("subresource")],
  ["resourcecheck_namespace", "<ResourceCheck> namespace(string) -> ResourceCheck", narrowed("namespace")],
  ["resourcecheck_name", "<ResourceCheck> name(string) -> ResourceCheck", narrowed("name")],
  ["authorizer_fieldselector", "<ResourceCheck> fieldSelector(string) -> ResourceCheck", unchanged],
  ["authorizer_labelselector", "<ResourceCheck> labelSelector(string) -> ResourceCheck", unchanged],
  [
    "pathcheck_check",
    "<PathCheck> check(string) -> Decision",
    method("pathCheck", ({ asks, path }, verb) => decision(asks.ask({ kind: "path", verb, path }))),
  ],
  [
    "resourcecheck_check",
    "<ResourceCheck> check(string) -> Decision",
    method("resourceCheck", ({ asks, question }, verb) => decision(asks.ask({ kind: "resource", verb, ...question }))),
  ],
  ["decision_errored", "<Decision> errored() -> bool", method("decision", () => false)],
  ["decision_error", "<Decision> error() -> string", method("decision", () => "")],
  ["decision_allowed", "<Decision> allowed() -> bool", method("decision", ({ allowed }) => allowed)],
  ["decision_reason", "<Decision> reason() -> string", method("decision", ({ reason }) => reason)],
];

export function authorization(): Declarations {
  return declare(ROWS);
}
