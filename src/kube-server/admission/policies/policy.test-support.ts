/** A server with admission policies only, and functions that create them. Only for tests. */
import { fieldAt, type Json } from "#kube";
import { realServer, type TestResponse, type TestServer } from "../../rest/server.test-support.ts";
import { mutatingPolicies, validatingPolicies } from "./index.ts";

const GROUP = "/apis/admissionregistration.k8s.io/v1";
export const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";

export const MATCH_ALL: Json = {
  resourceRules: [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["*"] }],
};
/** The operations that a mutating policy may match. */
export const MATCH_WRITES: Json = {
  resourceRules: [{ apiGroups: ["*"], apiVersions: ["*"], operations: ["CREATE", "UPDATE"], resources: ["*", "*/scale"] }],
};

export function policyServer(): TestServer {
  return realServer({ admission: (context) => [mutatingPolicies(context), validatingPolicies(context)] });
}

type Parts = { readonly name?: string; readonly spec: object; readonly binding?: object };

export async function addValidating({ ask }: TestServer, { name = "p", spec, binding = {} }: Parts): Promise<void> {
  const policy = {
    ...head("ValidatingAdmissionPolicy", name),
    spec: { matchConstraints: MATCH_ALL, ...spec },
  };
  const bound = {
    ...head("ValidatingAdmissionPolicyBinding", `${name}-binding`),
    spec: { policyName: name, validationActions: ["Deny"], ...binding },
  };
  await post(ask, "validatingadmissionpolicies", policy);
  await post(ask, "validatingadmissionpolicybindings", bound);
}

export async function addMutating({ ask }: TestServer, { name = "p", spec, binding = {} }: Parts): Promise<void> {
  const policy = {
    ...head("MutatingAdmissionPolicy", name),
    spec: { matchConstraints: MATCH_WRITES, reinvocationPolicy: "Never", ...spec },
  };
  const bound = { ...head("MutatingAdmissionPolicyBinding", `${name}-binding`), spec: { policyName: name, ...binding } };
  await post(ask, "mutatingadmissionpolicies", policy);
  await post(ask, "mutatingadmissionpolicybindings", bound);
}

async function post(ask: TestServer["ask"], plural: string, body: Json): Promise<void> {
  const message = messageOf(await ask("POST", `${GROUP}/${plural}`, { body }));
  if (message !== undefined) throw new Error(JSON.stringify(message));
}

function head(kind: string, name: string) {
  return { apiVersion: "admissionregistration.k8s.io/v1", kind, metadata: { name } };
}

export function configMap(name: string, data: Json = {}, labels: Json = {}): Json {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, labels }, data };
}

export const messageOf = ({ body }: TestResponse): Json | undefined => fieldAt(body, "message");
