/**
 * Bodies with the largest allowed number of parts (`MAX_PARTS`). Quadratic algorithms would take minutes here, or exhaust the memory.
 */
import { expect, test } from "vitest";
import { realServer } from "./server.test-support.ts";

const many = (count: number, part: (at: number) => string) => Array.from({ length: count }, (_, at) => part(at)).join(",");
const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const PODS = "/api/v1/namespaces/default/pods";
const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const configMap = (rest: string) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"},${rest}}`;
const pod = (containers: string, more = "") =>
  `{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"containers":[${containers}]${more}}}`;
const keys = (count: number, name: string) => many(count, (at) => `"${name}${at}":"${at}"`);
const variables = (name: string) => `{"name":"c","image":"i","env":[${many(6_000, (at) => `{"name":"${name}${at}","value":"x"}`)}]}`;

type Step = { readonly method: string; readonly url: string; readonly body: string; readonly type?: string; readonly status: number };

const stories: readonly { readonly name: string; readonly steps: readonly Step[] }[] = [
  {
    name: "unknown and duplicate fields",
    steps: ["Strict", "Warn"].map((validation) => ({
      method: "POST",
      url: `${CONFIG_MAPS}?fieldValidation=${validation}`,
      body: configMap(`${keys(5_000, "u")},"data":{${many(5_000, (at) => `"k${at}":"1","k${at}":"2"`)}}`),
      status: validation === "Strict" ? 400 : 201,
    })),
  },
  {
    name: "thousands of operations on one map",
    steps: [
      { method: "POST", url: CONFIG_MAPS, body: configMap(`"data":{${keys(15_000, "k")}}`), status: 201 },
      ...(["add", "remove"] as const).map((op) => ({
        method: "PATCH",
        url: `${CONFIG_MAPS}/x`,
        body: `[${many(4_000, (at) => `{"op":"${op}","path":"/data/z${at}","value":"1"}`)}]`,
        type: "application/json-patch+json",
        status: 200,
      })),
    ],
  },
  {
    name: "a map that two managers apply",
    steps: [201, 409].map((status) => ({
      method: "PATCH",
      url: `${CONFIG_MAPS}/x?fieldManager=manager-${status}`,
      body: configMap(`"data":{${keys(19_000, "k").replaceAll(`":"`, `":"${status}`)}}`),
      type: "application/apply-patch+yaml",
      status,
    })),
  },
  {
    name: "a Pod with many forbidden changes",
    steps: [
      { method: "POST", url: PODS, body: pod(variables("E")), status: 201 },
      { method: "PATCH", url: `${PODS}/p`, body: pod(variables("F")), type: "application/strategic-merge-patch+json", status: 422 },
    ],
  },
  {
    name: "containers with the same port",
    steps: [
      {
        method: "POST",
        url: PODS,
        body: pod(many(2_400, (at) => `{"name":"c${at}","image":"i","ports":[{"containerPort":80}]}`)),
        status: 201,
      },
    ],
  },
  {
    name: "containers with the same name and port of the host",
    steps: [
      {
        method: "POST",
        url: PODS,
        body: pod(many(2_400, () => `{"name":"c","image":"i","ports":[{"containerPort":80,"hostPort":80}]}`)),
        status: 422,
      },
    ],
  },
  {
    name: "volumes and mounts",
    steps: [
      {
        method: "POST",
        url: PODS,
        body: pod(
          `{"name":"c","image":"i","volumeMounts":[${many(2_400, (at) => `{"name":"v${at}","mountPath":"/m${at}"}`)}]}`,
          `,"volumes":[${many(2_400, (at) => `{"name":"v${at}","emptyDir":{}}`)}]`,
        ),
        status: 201,
      },
    ],
  },
  {
    name: "YAML with one key repeated",
    steps: [
      {
        method: "POST",
        url: `${CONFIG_MAPS}?fieldValidation=Strict`,
        body: `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata:\n${"  k: v\n".repeat(35_000)}`,
        type: "application/yaml",
        status: 400,
      },
      {
        method: "POST",
        url: `${CONFIG_MAPS}?fieldValidation=Strict`,
        body: `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\ndata: {a: x, a: y,${" ".repeat(500_000)}b: z}\n`,
        type: "application/yaml",
        status: 400,
      },
    ],
  },
  {
    name: "lists that must be unique",
    steps: [
      {
        method: "POST",
        url: "/apis/certificates.k8s.io/v1/certificatesigningrequests",
        body: `{"metadata":{"name":"c"},"spec":{"signerName":"a.b/c","usages":[${many(19_000, (at) => `"u${at}"`)}]}}`,
        status: 422,
      },
      {
        method: "POST",
        url: "/apis/storage.k8s.io/v1/storageclasses",
        body: `{"metadata":{"name":"s"},"provisioner":"a.b/c","allowedTopologies":[${many(9_000, () => "{}")}]}`,
        status: 422,
      },
      {
        method: "POST",
        url: "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
        body: `{"metadata":{"name":"v"},"spec":{"matchConstraints":{"resourceRules":[{"apiGroups":["*"],"apiVersions":["*"],"operations":["*"],"resources":[${many(9_000, (at) => `"r${at}/s"`)}],"resourceNames":[${many(9_000, (at) => `"n${at}"`)}]}]},"validations":[{"expression":"true"}]}}`,
        status: 201,
      },
    ],
  },
  {
    name: "a definition of many fields",
    steps: [
      {
        method: "POST",
        url: CRDS,
        body: `{"metadata":{"name":"vs.x.dev"},"spec":{"group":"x.dev","scope":"Namespaced","names":{"plural":"vs","kind":"V"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{${many(19_500, (at) => `"p${at}":{"type":"string"}`)}}}}}]}}`,
        status: 201,
      },
    ],
  },
];

test.each(stories)("$name", async ({ steps }) => {
  const { ask } = realServer();
  for (const { method, url, body, type, status } of steps)
    expect((await ask(method, url, type === undefined ? { body } : { body, type })).status).toBe(status);
});
