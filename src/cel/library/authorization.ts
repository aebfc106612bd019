/**
 * The authorizer library: `authorizer.group('apps').resource('deployments').check('create').allowed()`.
 *
 * The functions are declared for every expression; only those of admission have an `authorizer` variable. The engine has no notion of users:
 * the CelAuthorizer of the first value decides.
 */
import { dnsLabelProblems, dnsSubdomainProblems } from "#kube";
import type { AuthorizationContent, CelAuthorizer, ResourceAccessCheck } from "../authorizer.ts";
import { declare, type Declarations, type Evaluate, type Row } from "../declarations.ts";
import { CelOpaque, failure, NO_SUCH_OVERLOAD, type CelValue, type OpaqueContent } from "../values.ts";

export function authorizerValue(authorizer: CelAuthorizer): CelValue {
  return new CelOpaque({ of: "authorizer", authorizer });
}

export function resourceCheckValue(authorizer: CelAuthorizer, access: ResourceAccessCheck): CelValue {
  return new CelOpaque({ of: "resourceCheck", authorizer, access });
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

function serviceAccount({ authorizer }: Of<"authorizer">, namespace: string, name: string): CelValue {
  if (dnsSubdomainProblems(name).length > 0) return failure("Invalid service account name");
  if (dnsLabelProblems(namespace).length > 0) return failure("Invalid service account namespace");
  return authorizerValue(authorizer.forServiceAccount(namespace, name));
}

function resourceOf({ authorizer, group }: Of<"groupCheck">, resource: string): CelValue {
  if (isBlank(resource)) return failure("resource must not be empty");
  return resourceCheckValue(authorizer, { group, resource, subresource: "", namespace: "", name: "" });
}

/** The same check with more specific attributes. */
function narrowed(part: "subresource" | "namespace" | "name"): Evaluate {
  return method("resourceCheck", ({ authorizer, access }, text) => resourceCheckValue(authorizer, { ...access, [part]: text }));
}

/** The authorizer here does not support selectors, so they have no effect. */
const unchanged: Evaluate = method("resourceCheck", (content) => new CelOpaque(content));

function decision(decided: { readonly allowed: boolean; readonly reason: string }): CelValue {
  return new CelOpaque({ of: "decision", allowed: decided.allowed, reason: decided.reason });
}

const ROWS: readonly Row[] = [
  [
    "authorizer_path",
    "<Authorizer> path(string) -> PathCheck",
    method("authorizer", ({ authorizer }, path) =>
      isBlank(path) ? failure("path must not be empty") : new CelOpaque({ of: "pathCheck", authorizer, path }),
    ),
  ],
  [
    "authorizer_group",
    "<Authorizer> group(string) -> GroupCheck",
    method("authorizer", ({ authorizer }, group) => new CelOpaque({ of: "groupCheck", authorizer, group })),
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
    method("pathCheck", ({ authorizer, path }, verb) => decision(authorizer.check({ kind: "path", verb, path }))),
  ],
  [
    "resourcecheck_check",
    "<ResourceCheck> check(string) -> Decision",
    method("resourceCheck", ({ authorizer, access }, verb) => decision(authorizer.check({ kind: "resource", verb, ...access }))),
  ],
  ["decision_errored", "<Decision> errored() -> bool", method("decision", () => false)],
  ["decision_error", "<Decision> error() -> string", method("decision", () => "")],
  ["decision_allowed", "<Decision> allowed() -> bool", method("decision", ({ allowed }) => allowed)],
  ["decision_reason", "<Decision> reason() -> string", method("decision", ({ reason }) => reason)],
];

export function authorization(): Declarations {
  return declare(ROWS);
}
