/** Authentication, RBAC, impersonation, access reviews and tokens. */
import { expect } from "vitest";
import type { Api } from "../client/api.ts";
import { area } from "../contract.ts";
import { configMap } from "./objects.ts";

const RBAC = "rbac.authorization.k8s.io/v1";
const role = (name: string, ...rules: readonly object[]) => ({ metadata: { name }, rules });
const bind = (name: string, user: string, roleName = name) => ({
  metadata: { name },
  roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: roleName },
  subjects: [{ kind: "User", name: user, apiGroup: "rbac.authorization.k8s.io" }],
});
/** A user of this contract with these rules in its namespace. The real server reads rules with a delay, so `probe` must succeed first. */
async function userWith(api: Api, rules: readonly object[], probe: (user: Api) => Promise<{ readonly status: number }>): Promise<Api> {
  const name = `user-${api.id}`;
  await api.created(`${RBAC}/roles`, role("own", ...rules));
  await api.created(`${RBAC}/rolebindings`, bind("own", name));
  const user = api.as(name);
  const deadline = performance.now() + 20_000;
  while ((await probe(user)).status === 403 && performance.now() < deadline);
  return user;
}
const read = { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list", "watch"] };

export const access = area("access", {
  "the authority of client certificates is published for extension servers, and again when the ConfigMap is deleted": async (api) => {
    const path = "/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication";
    const published = (await api.get(path)).gives(200);
    expect(Object.keys((published.at("data") ?? {}) as object)).toEqual(["client-ca-file"]);
    published.has("metadata.managedFields.0.fieldsV1", { "f:data": { ".": {}, "f:client-ca-file": {} } });
    (await api.delete(path)).gives(200);
    const again = await api.until(
      () => api.get(path),
      ({ status }) => status === 200,
    );
    again.has("data", published.at("data"));
    expect(again.at("metadata.uid")).not.toBe(published.at("metadata.uid"));
  },

  "an unknown token is unauthorized, also for /version": async (api) => {
    for (const path of ["/version", "/api/v1/namespaces", "/healthz"]) {
      (await api.withToken("unknown").get(path)).refuses(401, "Unauthorized", "Unauthorized");
    }
  },

  "a request without a token is anonymous and may read /version and health": async (api) => {
    const anonymous = api.withoutToken();
    (await anonymous.get("/version")).gives(200);
    expect((await anonymous.get("/readyz")).text).toBe("ok");
    (await anonymous.get("configmaps")).refuses(
      403,
      "Forbidden",
      `configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in API group "" in the namespace "${api.namespace}"`,
      { details: { kind: "configmaps" } },
    );
    (await anonymous.get("/metrics")).refuses(403, "Forbidden", 'forbidden: User "system:anonymous" cannot get path "/metrics"');
  },

  "a user without rules is forbidden everything, with a message for each request": async (api) => {
    const alice = api.as("alice");
    const where = `in the namespace "${api.namespace}"`;
    (await alice.get("configmaps/a")).refuses(
      403,
      "Forbidden",
      `configmaps "a" is forbidden: User "alice" cannot get resource "configmaps" in API group "" ${where}`,
    );
    (await alice.get("apps/v1/deployments")).refuses(
      403,
      "Forbidden",
      `deployments.apps is forbidden: User "alice" cannot list resource "deployments" in API group "apps" ${where}`,
    );
    (await alice.post("configmaps", configMap("a"))).refuses(
      403,
      "Forbidden",
      `configmaps is forbidden: User "alice" cannot create resource "configmaps" in API group "" ${where}`,
    );
    (await alice.mergePatch("configmaps/a", {})).refuses(
      403,
      "Forbidden",
      `configmaps "a" is forbidden: User "alice" cannot patch resource "configmaps" in API group "" ${where}`,
    );
    (await alice.delete("configmaps")).refuses(
      403,
      "Forbidden",
      `configmaps is forbidden: User "alice" cannot deletecollection resource "configmaps" in API group "" ${where}`,
    );
    (await alice.get("/api/v1/nodes/n")).refuses(
      403,
      "Forbidden",
      'nodes "n" is forbidden: User "alice" cannot get resource "nodes" in API group "" at the cluster scope',
    );
    (await alice.get("pods/p/log")).refuses(
      403,
      "Forbidden",
      `pods "p" is forbidden: User "alice" cannot get resource "pods/log" in API group "" ${where}`,
    );
  },

  "a forbidden request for a missing object is 403, not 404": async (api) => {
    (await api.as("alice").get("configmaps/no")).gives(403);
    (await api.as("alice").get("/apis/no.such.group/v1/things")).gives(403);
  },

  "a Role grants access to its namespace and no other": async (api) => {
    const user = await userWith(api, [read], (as) => as.get("configmaps"));
    await api.created("configmaps", configMap("a"));
    (await user.get("configmaps/a")).gives(200);
    (await user.get("configmaps?watch=1&timeoutSeconds=1")).gives(200, undefined);
    (await user.get("/api/v1/configmaps")).gives(403);
    (await user.get("/api/v1/namespaces/default/configmaps")).gives(403);
    (await user.post("configmaps", configMap("b"))).gives(403);
    (await user.get("secrets")).gives(403);
  },

  "resourceNames grant one object, and lists of it only by name": async (api) => {
    await api.created("configmaps", configMap("one"));
    await api.created("configmaps", configMap("two"));
    const user = await userWith(api, [{ ...read, resourceNames: ["one"] }], (as) => as.get("configmaps/one"));
    (await user.get("configmaps/one")).gives(200);
    (await user.get("configmaps/two")).gives(403);
    (await user.get("configmaps")).gives(403);
    (await user.get("configmaps?fieldSelector=metadata.name%3Done")).gives(200, { items: [{ metadata: { name: "one" } }] });
  },

  "a subresource needs its own rule": async (api) => {
    await api.created("apps/v1/replicasets", {
      metadata: { name: "a" },
      spec: {
        replicas: 0,
        selector: { matchLabels: { a: "b" } },
        template: { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } },
      },
    });
    const user = await userWith(api, [{ apiGroups: ["apps"], resources: ["replicasets/scale"], verbs: ["get"] }], (as) =>
      as.get("apps/v1/replicasets/a/scale"),
    );
    (await user.get("apps/v1/replicasets/a/scale")).gives(200);
    (await user.get("apps/v1/replicasets/a")).gives(403);
  },

  "rules apply to groups and may use wildcards": async (api) => {
    await api.created(`${RBAC}/roles`, role("all", { apiGroups: ["*"], resources: ["*"], verbs: ["*"] }));
    await api.created(`${RBAC}/rolebindings`, {
      ...bind("all", "x"),
      subjects: [{ kind: "Group", name: `team-${api.id}`, apiGroup: "rbac.authorization.k8s.io" }],
    });
    const member = api.as("alice", `team-${api.id}`);
    await api.until(
      () => member.get("secrets"),
      ({ status }) => status === 200,
    );
    (await member.post("configmaps", configMap("a"))).gives(201);
    (await api.as("alice", "other-team").get("secrets")).gives(403);
  },

  "a RoleBinding may bind a ClusterRole in its namespace": async (api) => {
    await api.created(`${RBAC}/rolebindings`, {
      metadata: { name: "view" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "view" },
      subjects: [{ kind: "User", name: `viewer-${api.id}` }],
    });
    const viewer = api.as(`viewer-${api.id}`);
    await api.until(
      () => viewer.get("configmaps"),
      ({ status }) => status === 200,
    );
    (await viewer.get("secrets")).gives(403);
    (await viewer.get("apps/v1/deployments")).gives(200);
    (await viewer.post("configmaps", configMap("a"))).gives(403);
  },

  "a user cannot grant rights that it does not have": async (api) => {
    const user = await userWith(
      api,
      [{ apiGroups: ["rbac.authorization.k8s.io"], resources: ["roles", "rolebindings"], verbs: ["create", "list"] }],
      (as) => as.get(`${RBAC}/roles`),
    );
    const answer = await user.post(`${RBAC}/roles`, role("more", { apiGroups: [""], resources: ["secrets"], verbs: ["get", "list"] }));
    answer.refuses(
      403,
      "Forbidden",
      `roles.rbac.authorization.k8s.io "more" is forbidden: user "user-${api.id}" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n{APIGroups:[""], Resources:["secrets"], Verbs:["get" "list"]}`,
    );
    (
      await user.post(`${RBAC}/rolebindings`, {
        metadata: { name: "admin" },
        roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "admin" },
        subjects: [],
      })
    ).gives(403);
  },

  "the verbs bind and escalate allow granting more rights": async (api) => {
    const rbac = {
      apiGroups: ["rbac.authorization.k8s.io"],
      resources: ["roles", "rolebindings"],
      verbs: ["create", "get", "list", "bind", "escalate"],
    };
    const user = await userWith(api, [rbac], (as) => as.get(`${RBAC}/roles`));
    (await user.post(`${RBAC}/roles`, role("more", { apiGroups: [""], resources: ["secrets"], verbs: ["get"] }))).gives(201);
    (await user.post(`${RBAC}/rolebindings`, bind("more", "x"))).gives(201);
  },

  "an apply that creates needs create as well as patch": async (api) => {
    const user = await userWith(api, [{ apiGroups: [""], resources: ["configmaps"], verbs: ["patch", "get"] }], (as) =>
      as.get("configmaps/x"),
    );
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { x: "1" } };
    (await user.apply("one", "configmaps/a", map)).refuses(
      403,
      "Forbidden",
      `configmaps "a" is forbidden: User "user-${api.id}" cannot create resource "configmaps" in API group "" in the namespace "${api.namespace}"`,
    );
    await api.created("configmaps", configMap("a"));
    (await user.apply("one", "configmaps/a", map)).gives(200);
  },

  "PUT that creates needs create as well as update": async (api) => {
    const user = await userWith(api, [{ apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["update", "get"] }], (as) =>
      as.get("coordination.k8s.io/v1/leases/x"),
    );
    (await user.put("coordination.k8s.io/v1/leases/a", { metadata: { name: "a" } })).gives(403, { reason: "Forbidden" });
  },

  "impersonation needs a rule": async (api) => {
    const token = await tokenOf(api, "robot");
    (await api.withToken(token).as("alice").get("configmaps")).refuses(
      403,
      "Forbidden",
      `configmaps is forbidden: User "system:serviceaccount:${api.namespace}:robot" cannot impersonate-on:user-info:list resource "configmaps" in API group "" in the namespace "${api.namespace}"`,
    );
  },

  "an impersonated request has the user and groups of its headers": async (api) => {
    const whoAmI = await api.as("alice", "devs", "ops").post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {});
    whoAmI.gives(201, {
      kind: "SelfSubjectReview",
      status: { userInfo: { username: "alice", groups: ["devs", "ops", "system:authenticated"] } },
    });
  },

  "impersonated groups without a user are rejected": async (api) => {
    (await api.get("configmaps", { "impersonate-group": "devs" })).refuses(
      400,
      "BadRequest",
      'requested &user.DefaultInfo{Name:"", UID:"", Groups:[]string{"devs"}, Extra:map[string][]string(nil)} without impersonating a user name',
    );
  },

  "impersonation may set uid and extra fields": async (api) => {
    const answer = await api
      .as("alice")
      .post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {}, { "impersonate-extra-reason": "test", "impersonate-uid": "u-1" });
    answer.gives(201, { status: { userInfo: { username: "alice", uid: "u-1", extra: { reason: ["test"] } } } });
  },

  "a SelfSubjectAccessReview returns whether the user is allowed, with the reason": async (api) => {
    const user = await userWith(api, [read], (as) => as.get("configmaps"));
    const ask = (as: Api, attributes: object) =>
      as.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {
        spec: { resourceAttributes: { namespace: api.namespace, resource: "configmaps", ...attributes } },
      });
    (await ask(user, { verb: "get" })).gives(201, {
      status: { allowed: true, reason: `RBAC: allowed by RoleBinding "own/${api.namespace}" of Role "own" to User "user-${api.id}"` },
    });
    (await ask(user, { verb: "delete" })).gives(201, { status: { allowed: false } });
    (await ask(api, { verb: "delete" })).gives(201, { status: { allowed: true } });
  },

  "a SubjectAccessReview returns whether another user is allowed": async (api) => {
    const review = (spec: object) => api.post("/apis/authorization.k8s.io/v1/subjectaccessreviews", { spec });
    (await review({ user: "alice", resourceAttributes: { verb: "get", resource: "pods" } })).gives(201, {
      kind: "SubjectAccessReview",
      status: { allowed: false },
    });
    (await review({ user: "root", groups: ["system:masters"], resourceAttributes: { verb: "get", resource: "pods" } })).gives(201, {
      status: { allowed: true },
    });
    (await review({ user: "alice", nonResourceAttributes: { verb: "get", path: "/healthz" }, groups: ["system:authenticated"] })).gives(
      201,
      { status: { allowed: true } },
    );
    (await review({ resourceAttributes: { verb: "get", resource: "pods" } })).refuses(
      422,
      "Invalid",
      '.authorization.k8s.io "" is invalid: spec.user: Invalid value: "": at least one of user or group must be specified',
    );
    (await review({ user: "alice" })).gives(422);
  },

  "a LocalSubjectAccessReview must name its own namespace": async (api) => {
    const spec = { user: "alice", resourceAttributes: { verb: "get", resource: "pods", namespace: api.namespace } };
    (await api.post("authorization.k8s.io/v1/localsubjectaccessreviews", { spec })).gives(201, {
      kind: "LocalSubjectAccessReview",
      status: { allowed: false },
    });
    (
      await api.post("authorization.k8s.io/v1/localsubjectaccessreviews", {
        spec: { ...spec, resourceAttributes: { ...spec.resourceAttributes, namespace: "default" } },
      })
    ).gives(422);
  },

  "a SelfSubjectRulesReview returns the rules of the user": async (api) => {
    const user = await userWith(api, [read], (as) => as.get("configmaps"));
    const answer = await user.post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", { spec: { namespace: api.namespace } });
    answer.gives(201, { kind: "SelfSubjectRulesReview", status: { incomplete: false } });
    expect(answer.at("status.resourceRules")).toEqual(expect.arrayContaining([read]));
    (await user.post("/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", { spec: {} })).gives(400);
  },

  "a ServiceAccount's token authenticates as the account": async (api) => {
    const token = await tokenOf(api, "robot");
    const robot = api.withToken(token);
    const who = await robot.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", {});
    who.gives(201, {
      status: {
        userInfo: {
          username: `system:serviceaccount:${api.namespace}:robot`,
          groups: ["system:serviceaccounts", `system:serviceaccounts:${api.namespace}`, "system:authenticated"],
        },
      },
    });
    (await robot.get("configmaps")).refuses(
      403,
      "Forbidden",
      `configmaps is forbidden: User "system:serviceaccount:${api.namespace}:robot" cannot list resource "configmaps" in API group "" in the namespace "${api.namespace}"`,
    );
  },

  "a token has claims for its account, lifetime and audiences": async (api) => {
    await api.created("serviceaccounts", { metadata: { name: "robot" } });
    const answer = await api.post("serviceaccounts/robot/token", { spec: { audiences: ["a", "b"], expirationSeconds: 600 } });
    answer.gives(201, {
      kind: "TokenRequest",
      apiVersion: "authentication.k8s.io/v1",
      spec: { audiences: ["a", "b"], expirationSeconds: 600 },
    });
    const claims = JSON.parse(Buffer.from(answer.textAt("status.token").split(".")[1] ?? "", "base64url").toString()) as Record<
      string,
      unknown
    >;
    expect(claims).toMatchObject({
      aud: ["a", "b"],
      sub: `system:serviceaccount:${api.namespace}:robot`,
      "kubernetes.io": { namespace: api.namespace, serviceaccount: { name: "robot" } },
    });
    expect(Number(claims["exp"]) - Number(claims["iat"])).toBe(600);
    (await api.withToken(answer.textAt("status.token")).get("configmaps")).gives(401);
  },

  "a token's lifetime is at least ten minutes": async (api) => {
    await api.created("serviceaccounts", { metadata: { name: "robot" } });
    (await api.post("serviceaccounts/robot/token", { spec: { expirationSeconds: 60 } })).refuses(
      422,
      "Invalid",
      'TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 60: may not specify a duration less than 10 minutes',
    );
    (await api.post("serviceaccounts/no/token", { spec: {} })).refuses(404, "NotFound", 'serviceaccounts "no" not found');
  },

  "a token is invalid after its account is deleted": async (api) => {
    const token = await tokenOf(api, "robot");
    await api.delete("serviceaccounts/robot");
    await api.until(
      () => api.withToken(token).get("configmaps"),
      ({ status }) => status === 401,
    );
  },

  "a TokenReview returns the user of a token": async (api) => {
    const token = await tokenOf(api, "robot");
    const review = (spec: object) => api.post("/apis/authentication.k8s.io/v1/tokenreviews", { spec });
    (await review({ token })).gives(201, {
      kind: "TokenReview",
      status: { authenticated: true, user: { username: `system:serviceaccount:${api.namespace}:robot` } },
    });
    const unknown = await review({ token: "nonsense" });
    unknown.gives(201).has("status.authenticated", undefined);
    expect(unknown.textAt("status.error")).not.toBe("");
  },

  "deletecollection and list need their own verbs": async (api) => {
    const user = await userWith(api, [{ apiGroups: [""], resources: ["configmaps"], verbs: ["delete", "list"] }], (as) =>
      as.get("configmaps"),
    );
    (await user.delete("configmaps")).gives(403);
    (await user.get("configmaps?watch=1&timeoutSeconds=1")).gives(403);
    (await user.delete("configmaps/no")).gives(404);
  },

  "the default cluster roles exist": async (api) => {
    (await api.get("/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin")).gives(200, {
      metadata: { labels: { "kubernetes.io/bootstrapping": "rbac-defaults" } },
      rules: [
        { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
        { nonResourceURLs: ["*"], verbs: ["*"] },
      ],
    });
    (await api.get("/apis/rbac.authorization.k8s.io/v1/clusterroles/view")).gives(200, {
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: { "rbac.authorization.k8s.io/aggregate-to-view": "true" } }] },
    });
    (await api.get("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/cluster-admin")).gives(200, {
      subjects: [{ kind: "Group", name: "system:masters" }],
    });
  },
});

async function tokenOf(api: Api, name: string): Promise<string> {
  await api.created("serviceaccounts", { metadata: { name } });
  return (await api.post(`serviceaccounts/${name}/token`, { spec: {} })).gives(201).textAt("status.token");
}
