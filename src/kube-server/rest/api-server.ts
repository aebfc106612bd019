/**
 * The API server without a network: maps requests to responses. HTTP and the in-process transport both call it.
 *
 * Most requests run synchronously from the first to the last step, so what they read is still current when they write.
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
import type { PodLogs } from "../protocol/pod-log-port.ts";
import { header, textResponse, type ApiRequest, type ApiResponse, type User } from "../protocol/request.ts";
import { failureResponse, TRANSFORMS, type PendingResponse } from "../protocol/respond.ts";
import { RecentRoutes } from "./recent-routes.ts";
import { requestInfoOf, type RequestInfo } from "../protocol/request-info.ts";
import { isReview, routeOf, type RequestTarget, type Verb } from "../protocol/route.ts";
import { badRequest, methodNotAllowed } from "../protocol/status.ts";
import { bindPod } from "./subresources/pods.ts";
import { reviewOf } from "./subresources/reviews.ts";
import { dispatchSubresource } from "./subresources/table.ts";
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
  /** The built-in kinds. */
  readonly types: readonly ResourceType[];
  /** Called once for every kind, including custom ones. */
  readonly adaptType?: AdaptType | undefined;
  readonly clock: Clock;
  readonly random: () => number;
  readonly logger?: Logger | undefined;
  /** Authenticates static tokens. ServiceAccount tokens are authenticated by `accounts`. */
  readonly authenticate?: ((token: string) => User | undefined) | undefined;
  /** Issues and authenticates ServiceAccount tokens; default: with a key that exists only as long as this server. */
  readonly accounts?: AccountTokens | undefined;
  /** Absent: every request is allowed. */
  readonly authorize?: Authorizer | undefined;
  /** The admission plugins, in order; default: those of kube-apiserver. */
  readonly admission?: ((context: AdmissionContext) => readonly AdmissionPlugin[]) | undefined;
  /** Resolves the Service of a webhook. Default: an endpoint on loopback, or the Service's external name. */
  readonly resolveService?: ResolveService | undefined;
  /** Limits of undelivered events for watchers that do not read. */
  readonly watchBacklog?: Partial<BacklogLimits> | undefined;
  /** "host:port" in discovery documents. */
  readonly address?: (() => string) | undefined;
  /** The Kubernetes version in /version; default: the one that is emulated. */
  readonly version?: (() => string | undefined) | undefined;
  /** Absent: no Pod has a log. */
  readonly podLogs?: PodLogs | undefined;
};

/** An authorized request. It is executed when its body has been read, without another authorization. */
export type AuthorizedRequest = (body: ApiRequest["body"], signal: AbortSignal) => Later<ApiResponse>;

export interface ApiServer {
  /** Authorizes and executes a request. */
  handle(request: ApiRequest, signal: AbortSignal): Later<ApiResponse>;
  /** Authorizes a request whose body has not been read. The error is the response to a forbidden request. */
  authorize(request: ApiRequest): Result<AuthorizedRequest, ApiResponse>;
  /** The user of a bearer token, if the token is valid for this server. */
  readonly authenticate?: (token: string) => User | undefined;
  readonly types: TypeRegistry;
  readonly store: Store;
  /** Publishes the authority of client certificates in the ConfigMap extension-apiserver-authentication. `pem`: its certificate. */
  publishClientAuthority?(pem: string): void;
  /** Ends every watch. The store stays open: its owner closes it. */
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
  const dependencies = {
    store: options.store,
    types,
    clock: options.clock,
    random: options.random,
    logger: options.logger ?? silentLogger,
    closing: closing.signal,
  };
  const resolveService = options.resolveService ?? resolveFromStore(options.store);
  const context = { ...dependencies, authorize: options.authorize ?? EVERYTHING, resolveService };
  const plugins = (options.admission ?? admissionPlugins)(context);
  const core: Core = {
    ...context,
    openToAll: options.authorize === undefined,
    admission: admissionChain([creationChecks(context), ...plugins, escalationChecks(context)]),
    authentication: createAuthentication(options.accounts ?? accountTokens(dependencies), options.authenticate),
    printed: { object: undefined, text: "" },
    backlog: new WatchBacklog(options.watchBacklog),
    turns: new TurnBudget(options.clock),
    podLogs: options.podLogs,
  };
  const isNew = options.store.collections().length === 0;
  ensureFirstNamespaces(core);
  ensureBootstrapObjects(core);
  ensureServerRecords(core);
  const definitions = followDefinitions(core, conversionWebhooks({ ...dependencies, resolveService }));
  // the history before the first request is dropped: `resourceVersion=1` is too old, as on any cluster that has been in use
  if (isNew) options.store.compact(options.store.revision);
  const address = options.address ?? (() => "127.0.0.1");
  const discovery = createDiscovery({ types, store: options.store, address, version: options.version });
  const about = (request: ApiRequest) =>
    discovery.respond(request) ?? answerOpenId(request, { accounts: core.authentication.accounts, address });
  const gate = createGate(context.authorize, options.authorize === undefined);
  const paths: Paths = { about, types, routes: new RecentRoutes(types) };
  const execute = (request: ApiRequest, signal: AbortSignal, target: RequestTarget | ApiResponse) =>
    "type" in target ? executeTarget(core, target, request, signal) : target;
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
        return execute(complete, signal, paths.routes.find(request)?.target ?? newTarget(complete, info, paths));
      });
    },
    authenticate: core.authentication.userOf,
    handle(request, signal) {
      const known = paths.routes.find(request);
      const info = known?.info ?? infoOf(request);
      if (!("kind" in info)) return info;
      const authorized = gate(request, info);
      if (!authorized.ok) return authorized.error;
      return execute(authorized.value, signal, known?.target ?? newTarget(authorized.value, info, paths));
    },
    publishClientAuthority: (pem) => publishClientAuthority(core, pem, closing.signal),
    close() {
      definitions.end();
      closing.abort();
    },
  };
}

const EVERYTHING: Authorizer = () => ({ allowed: true, reason: "" });
const NOT_FOUND_PAGE = "404 page not found\n";

/** `about`: discovery documents and OpenID configuration. */
type Paths = {
  readonly about: (request: ApiRequest) => ApiResponse | undefined;
  readonly types: TypeRegistry;
  readonly routes: RecentRoutes;
};

/** The parsed request; or the error response, if it cannot be parsed. */
function infoOf(request: ApiRequest): RequestInfo | ApiResponse {
  const info = requestInfoOf(request);
  if (info.ok) return info.value;
  return info.error.kind === "no-resource" ? textResponse(500, info.error.message) : textResponse(400, "400 Bad Request");
}

/** The target of a request; or the response, if the path is not that of an object. */
function newTarget(request: ApiRequest, info: RequestInfo, { about, types, routes }: Paths): RequestTarget | ApiResponse {
  const own = about(request);
  if (own !== undefined) return own;
  const target = info.kind === "path" ? undefined : routeOf(info, request.method, types);
  if (info.kind === "path" || target === undefined) return textResponse(404, NOT_FOUND_PAGE);
  if (!target.ok) return failureResponse(request, target.error);
  routes.add(request, { info, target: target.value });
  return target.value;
}

function executeTarget(core: Core, target: RequestTarget, request: ApiRequest, signal: AbortSignal): Later<ApiResponse> {
  const deprecation = deprecationOf(target.type);
  const warnings = new Set<string>(deprecation === undefined ? undefined : [deprecation]);
  return whenThere(dispatchTarget(core, request, { target, signal, warnings }), (answered) =>
    answered.ok ? answered.value : failureResponse(request, answered.error, warnings),
  );
}

type Started = { readonly target: RequestTarget; readonly signal: AbortSignal; readonly warnings: Set<string> };

function dispatchTarget(core: Core, request: ApiRequest, { target, signal, warnings }: Started): PendingResponse {
  const listed = target.verb === "list" || target.verb === "watch";
  const output = negotiate(header(request, "accept"), transformsOf(target), target.type.custom, listed);
  if (!output.ok) return err(output.error);
  const fits = checkBodySize(request, target.type.collection);
  if (!fits.ok) return fits;
  const call: RequestContext = { core, request, target, output: output.value, signal, warnings, large: isLarge(request) };
  if (target.subresource !== undefined) return dispatchSubresource(call);
  if (target.verb === "create") return dispatchCreate(call);
  return VERBS[target.verb](call);
}

function transformsOf(target: RequestTarget) {
  const { verb, subresource } = target;
  if (subresource === "token" || isReview(target)) return TRANSFORMS.plain;
  return verb === "list" || verb === "watch" || verb === "deletecollection" ? TRANSFORMS.list : TRANSFORMS.object;
}

/** Most created objects are stored. Reviews are only evaluated, and a Binding changes a pod. */
function dispatchCreate(call: RequestContext): PendingResponse {
  const review = reviewOf(call);
  if (review !== undefined) return review(call);
  const { type } = call.target;
  if (type.resource.group === "" && type.resource.plural === "bindings") return bindByName(call);
  if (!type.verbs.includes("create")) return methodNotAllowed();
  return create(call);
}

/** `POST …/bindings` names the pod in its body; equivalent to `POST …/pods/NAME/binding`. */
function bindByName(call: RequestContext): PendingResponse {
  const pods = call.core.types.find("", "v1", "pods");
  const body = readBody(call, "Ignore");
  if (!body.ok) return body;
  const name = fieldAt(body.value.value, "metadata", "name");
  if (pods === undefined || typeof name !== "string" || name === "") return badRequest("Name parameter required.");
  return bindPod({ ...call, target: { ...call.target, type: pods, name, subresource: "binding" } });
}
