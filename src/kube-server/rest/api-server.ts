/**
 * The API server without a network: a request goes in, an answer comes out. HTTP and the in-process transport are two ways to reach it.
 *
 * A request is worked on from its first to its last step without letting another in between, so what it read is still true when it writes.
 */
import { err, ok, silentLogger, whenThere, type Clock, type Later, type Logger, type Result } from "#base";
import { fieldAt } from "#kube";
import { createDiscovery } from "../discovery/index.ts";
import { admissionChain, admissionPlugins } from "../admission/index.ts";
import {
  accountTokens,
  answerOpenId,
  createAuthentication,
  createGate,
  creationChecks,
  ensureBootstrapObjects,
  ensureServerRecords,
  publishClientAuthority,
  escalationChecks,
} from "../auth/index.ts";
import type { ResourceType } from "../resource-type.ts";
import { TurnBudget } from "../turns.ts";
import { resolveFromStore } from "../webhook-client/index.ts";
import { conversionWebhooks } from "../custom-resources/index.ts";
import { checkBodySize, isLarge } from "./body-parts.ts";
import { followDefinitions } from "../definitions/custom-types.ts";
import type { RequestContext, Core } from "../protocol/core.ts";
import { deleteCollection, deleteOne } from "./deletes.ts";
import { readBody } from "../protocol/decode-body.ts";
import { deprecationOf } from "./deprecations.ts";
import { negotiate } from "../protocol/media-types.ts";
import { ensureFirstNamespaces } from "../protocol/namespaces.ts";
import { patch } from "./patches.ts";
import { getObject, listObjects } from "./reads.ts";
import { header, textResponse, type ApiRequest, type ApiResponse, type User } from "../protocol/request.ts";
import { failureResponse, TRANSFORMS, type PendingResponse } from "../protocol/respond.ts";
import { RecentRoutes } from "./recent-routes.ts";
import { requestInfoOf, type RequestInfo } from "../protocol/request-info.ts";
import { isReview, routeOf, type RequestTarget, type Verb } from "../protocol/route.ts";
import { badRequest, methodNotAllowed } from "../protocol/status.ts";
import { bindPod } from "./subresources/pods.ts";
import { reviewOf } from "./subresources/reviews.ts";
import { answerSubresource } from "./subresources/table.ts";
import { TypeRegistry, type AdaptType } from "../protocol/type-registry.ts";
import { WatchBacklog, type BacklogLimits } from "../protocol/watch-backlog.ts";
import { watch } from "./watches.ts";
import { create, update } from "./writes.ts";
import type { AccountTokens, Authorizer } from "../protocol/auth-port.ts";
import type { AdmissionContext, AdmissionPlugin } from "../protocol/admission-port.ts";
import type { ResolveService } from "../protocol/resolve-service.ts";
import type { Store } from "../store/index.ts";

export type ApiServerOptions = {
  readonly store: Store;
  /** The kinds that are always there. */
  readonly types: readonly ResourceType[];
  /** Asked once about every kind, custom ones included. */
  readonly adaptType?: AdaptType | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger?: Logger | undefined;
  /** Whom tokens belong to that the server was given. Those of ServiceAccounts it knows by itself. */
  readonly authenticate?: ((token: string) => User | undefined) | undefined;
  /** Where those come from; without it their key is made here and ends with this server. */
  readonly accounts?: AccountTokens | undefined;
  /** Who may do what; without it everybody may do everything. */
  readonly authorize?: Authorizer | undefined;
  /** The parts of admission, in order; without it those of kube-apiserver. */
  readonly admission?: ((context: AdmissionContext) => readonly AdmissionPlugin[]) | undefined;
  /** Where the Service of a webhook is; without it at an endpoint on loopback, or where its external name leads. */
  readonly resolveService?: ResolveService | undefined;
  /** How much may wait for watchers that do not read. */
  readonly watchBacklog?: Partial<BacklogLimits> | undefined;
  /** "host:port", as discovery tells it to clients. */
  readonly address?: (() => string) | undefined;
};

/** A request that the caller may make. It is answered once its body is there, without being authorized again. */
export type AuthorizedRequest = (body: ApiRequest["body"], signal: AbortSignal) => Later<ApiResponse>;

export interface ApiServer {
  /** Authorizes a request and answers it. */
  handle(request: ApiRequest, signal: AbortSignal): Later<ApiResponse>;
  /** Authorizes a request whose body has not been read. The error is the response to a caller that may not make it. */
  authorize(request: ApiRequest): Result<AuthorizedRequest, ApiResponse>;
  /** Whom a bearer token belongs to, if it is good for this server. */
  readonly authenticate?: (token: string) => User | undefined;
  readonly types: TypeRegistry;
  readonly store: Store;
  /** Tells, in ConfigMap extension-apiserver-authentication, whose client certificates are accepted. `pem`: the authority. */
  publishClientAuthority?(pem: string): void;
  /** Ends every watch. The store stays open: it belongs to whoever made it. */
  close(): void;
}

const VERBS: Readonly<Record<Verb, (call: RequestContext) => PendingResponse>> = {
  get: getObject,
  list: listObjects,
  watch,
  create,
  update,
  patch,
  delete: deleteOne,
  deletecollection: deleteCollection,
};

export function createApiServer(options: ApiServerOptions): ApiServer {
  const closing = new AbortController();
  const types = new TypeRegistry(options.types, options.adaptType);
  const ground = {
    store: options.store,
    types,
    clock: options.clock,
    random: options.random,
    logger: options.logger ?? silentLogger,
    closing: closing.signal,
  };
  const resolveService = options.resolveService ?? resolveFromStore(options.store);
  const context = { ...ground, authorize: options.authorize ?? EVERYTHING, resolveService };
  const plugins = (options.admission ?? admissionPlugins)(context);
  const core: Core = {
    ...context,
    openToAll: options.authorize === undefined,
    admission: admissionChain([creationChecks(context), ...plugins, escalationChecks(context)]),
    authentication: createAuthentication(options.accounts ?? accountTokens(ground), options.authenticate),
    printed: { object: undefined, text: "" },
    backlog: new WatchBacklog(options.watchBacklog),
    turns: new TurnBudget(options.clock),
  };
  const isNew = options.store.collections().length === 0;
  ensureFirstNamespaces(core);
  ensureBootstrapObjects(core);
  ensureServerRecords(core);
  const definitions = followDefinitions(core, conversionWebhooks({ ...ground, resolveService }));
  // what happened before the first request is nobody's history: `resourceVersion=1` is too old, as on any cluster that has lived
  if (isNew) options.store.compact(options.store.revision);
  const address = options.address ?? (() => "127.0.0.1");
  const discovery = createDiscovery({ types, store: options.store, address });
  const about = (request: ApiRequest) =>
    discovery.respond(request) ?? answerOpenId(request, { accounts: core.authentication.accounts, address });
  const gate = createGate(context.authorize, options.authorize === undefined);
  const paths: Paths = { about, types, routes: new RecentRoutes(types) };
  const answer = (request: ApiRequest, signal: AbortSignal, target: RequestTarget | ApiResponse) =>
    "type" in target ? objectResponse(core, target, request, signal) : target;
  return {
    types,
    store: options.store,
    authorize(request) {
      const info = paths.routes.find(request)?.info ?? infoOf(request);
      if (!("kind" in info)) return err(info);
      const authorized = gate(request, info);
      if (!authorized.ok) return authorized;
      return ok((body, signal) => {
        const complete = body === undefined ? authorized.value : { ...authorized.value, body };
        // looked up again: the kinds may have changed while the body was read
        return answer(complete, signal, paths.routes.find(request)?.target ?? newTarget(complete, info, paths));
      });
    },
    authenticate: core.authentication.userOf,
    handle(request, signal) {
      const known = paths.routes.find(request);
      const info = known?.info ?? infoOf(request);
      if (!("kind" in info)) return info;
      const authorized = gate(request, info);
      if (!authorized.ok) return authorized.error;
      return answer(authorized.value, signal, known?.target ?? newTarget(authorized.value, info, paths));
    },
    publishClientAuthority: (pem) => publishClientAuthority(core, pem),
    close() {
      definitions.end();
      closing.abort();
    },
  };
}

const EVERYTHING: Authorizer = () => ({ allowed: true, reason: "" });
const NOT_FOUND_PAGE = "404 page not found\n";

/** `about`: what the server says of itself. */
type Paths = {
  readonly about: (request: ApiRequest) => ApiResponse | undefined;
  readonly types: TypeRegistry;
  readonly routes: RecentRoutes;
};

/** What a request asks for; or its answer, when that cannot be read. */
function infoOf(request: ApiRequest): RequestInfo | ApiResponse {
  const info = requestInfoOf(request);
  if (info.ok) return info.value;
  return info.error.kind === "no-resource" ? textResponse(500, info.error.message) : textResponse(400, "400 Bad Request");
}

/** What a request is about; or its answer, when that is no object. */
function newTarget(request: ApiRequest, info: RequestInfo, { about, types, routes }: Paths): RequestTarget | ApiResponse {
  const own = about(request);
  if (own !== undefined) return own;
  const target = info.kind === "path" ? undefined : routeOf(info, request.method, types);
  if (info.kind === "path" || target === undefined) return textResponse(404, NOT_FOUND_PAGE);
  if (!target.ok) return failureResponse(request, target.error);
  routes.add(request, { info, target: target.value });
  return target.value;
}

function objectResponse(core: Core, target: RequestTarget, request: ApiRequest, signal: AbortSignal): Later<ApiResponse> {
  const deprecation = deprecationOf(target.type);
  const warnings = new Set<string>(deprecation === undefined ? undefined : [deprecation]);
  return whenThere(answerTarget(core, request, { target, signal, warnings }), (answered) =>
    answered.ok ? answered.value : failureResponse(request, answered.error, warnings),
  );
}

type Started = { readonly target: RequestTarget; readonly signal: AbortSignal; readonly warnings: Set<string> };

function answerTarget(core: Core, request: ApiRequest, { target, signal, warnings }: Started): PendingResponse {
  const listed = target.verb === "list" || target.verb === "watch";
  const output = negotiate(header(request, "accept"), transformsOf(target), target.type.custom, listed);
  if (!output.ok) return err(output.error);
  const fits = checkBodySize(request, target.type.collection);
  if (!fits.ok) return fits;
  const call: RequestContext = { core, request, target, output: output.value, signal, warnings, large: isLarge(request) };
  if (target.subresource !== undefined) return answerSubresource(call);
  if (target.verb === "create") return createWhatever(call);
  return VERBS[target.verb](call);
}

function transformsOf(target: RequestTarget) {
  const { verb, subresource } = target;
  if (subresource === "token" || isReview(target)) return TRANSFORMS.plain;
  return verb === "list" || verb === "watch" || verb === "deletecollection" ? TRANSFORMS.list : TRANSFORMS.object;
}

/** Most things that are created are kept. Questions are answered, and a Binding changes a pod. */
function createWhatever(call: RequestContext): PendingResponse {
  const review = reviewOf(call);
  if (review !== undefined) return review(call);
  const { type } = call.target;
  if (type.resource.group === "" && type.resource.plural === "bindings") return bindByName(call);
  if (!type.verbs.includes("create")) return methodNotAllowed();
  return create(call);
}

/** `POST …/bindings` names the pod in its body; it is the same as `POST …/pods/NAME/binding`. */
function bindByName(call: RequestContext): PendingResponse {
  const pods = call.core.types.find("", "v1", "pods");
  const body = readBody(call, "Ignore");
  if (!body.ok) return body;
  const name = fieldAt(body.value.value, "metadata", "name");
  if (pods === undefined || typeof name !== "string" || name === "") return badRequest("Name parameter required.");
  return bindPod({ ...call, target: { ...call.target, type: pods, name, subresource: "binding" } });
}
