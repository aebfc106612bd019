import { expect, test } from "vitest";
import type { Json, JsonObject } from "#kube";
import type { PodLogRequest, PodLogs } from "../../protocol/pod-log-port.ts";
import { guardedServer, realServer } from "../server.test-support.ts";

const PODS = "/api/v1/namespaces/default/pods";
const NOW = Date.UTC(2026, 0, 1);
const containers = (...names: readonly string[]) => names.map((name) => ({ name, image: "i" }));
const podOf = (name: string, spec: JsonObject): Json => ({ apiVersion: "v1", kind: "Pod", metadata: { name }, spec });
const id = "containerd://0";
const terminated = { exitCode: 1, containerID: id };

/** Logs with the request as text. */
function logs(found = true): PodLogs & { readonly requests: PodLogRequest[]; readonly signals: AbortSignal[] } {
  const [requests, signals]: [PodLogRequest[], AbortSignal[]] = [[], []];
  async function* text(request: PodLogRequest) {
    yield new TextEncoder().encode(`${request.previous ? "previous" : "newest"} of ${request.container}\n`);
    await Promise.resolve();
  }
  return {
    requests,
    signals,
    has: ({ metadata }) => metadata.name !== "simulated",
    read: (_pod, request, signal) => {
      requests.push(request);
      signals.push(signal);
      return found ? text(request) : undefined;
    },
  };
}

async function begin(podLogs: PodLogs, spec: JsonObject = { containers: containers("web") }, statuses: JsonObject = {}) {
  const server = realServer({ podLogs });
  const { ask } = server;
  await ask("POST", "/api/v1/nodes", { body: { metadata: { name: "n1" } } });
  for (const name of ["p", "simulated"]) {
    await ask("POST", PODS, { body: podOf(name, { nodeName: "n1", ...spec }) });
    await ask("PATCH", `${PODS}/${name}/status`, { type: "application/merge-patch+json", body: { status: statuses } });
  }
  const read = async (query = "", name = "p") => {
    const { response, body, status } = await ask("GET", `${PODS}/${name}/log?${query}`);
    if (response.body.kind !== "byte-stream") return body === null ? status : (body as JsonObject)["message"];
    let text = "";
    for await (const chunk of response.body.chunks) text += new TextDecoder().decode(chunk);
    return text;
  };
  return { ...server, read };
}

const status = (name: string, state: JsonObject, lastState: JsonObject = {}) => ({
  name,
  state,
  lastState,
  image: "i",
  imageID: "",
  ready: true,
  restartCount: 1,
});
const only = (state: JsonObject, lastState?: JsonObject) => ({ containerStatuses: [status("web", state, lastState)] });
const running = only({ running: {} }, { terminated });

test("a log is text, and a request has the options of its query", async () => {
  const podLogs = logs();
  const { ask, read, clock } = await begin(podLogs, undefined, running);
  const { status: code, response } = await ask("GET", `${PODS}/p/log`);
  expect([code, response.headers]).toEqual([200, { "content-type": "text/plain" }]);
  for (const query of [
    "follow=true&timestamps=true&tailLines=0&limitBytes=1&sinceSeconds=60",
    "previous=true&follow=false&timestamps=0&sinceTime=2025-12-31T23:00:00.5%2B01:00",
  ]) {
    await read(query);
  }
  const none = { follow: false, timestamps: false, previous: false, tailLines: undefined, since: undefined, limitBytes: undefined };
  expect(podLogs.requests).toEqual([
    { container: "web", ...none },
    { container: "web", ...none, follow: true, timestamps: true, tailLines: 0, limitBytes: 1, since: clock.now() - 60_000 },
    { container: "web", ...none, previous: true, since: NOW - 2 * 3_600_000 },
  ]);
});

test("the end of the request, or of the server, ends the log", async () => {
  const podLogs = logs();
  const { ask, server } = await begin(podLogs, undefined, running);
  const gone = new AbortController();
  await ask("GET", `${PODS}/p/log?follow=true`, { signal: gone.signal });
  await ask("GET", `${PODS}/p/log?follow=true`);
  gone.abort();
  expect(podLogs.signals.map(({ aborted }) => aborted)).toEqual([true, false]);
  server.close();
  expect(podLogs.signals.map(({ aborted }) => aborted)).toEqual([true, true]);
});

test.each<{ name: string; query?: string; given: JsonObject; want: string }>([
  { name: "a running container", given: running, want: "newest of web\n" },
  { name: "the one before it", query: "previous=true", given: running, want: "previous of web\n" },
  {
    name: "no one before it",
    query: "previous=true",
    given: only({ running: {} }),
    want: 'previous terminated container "web" in pod "p" not found',
  },
  { name: "an ended container", given: only({ terminated }), want: "newest of web\n" },
  { name: "the one before an ended one", query: "previous=true", given: only({ terminated }, { terminated }), want: "previous of web\n" },
  {
    name: "one that waits for its restart",
    given: only({ waiting: { reason: "CrashLoopBackOff" } }, { terminated }),
    want: "newest of web\n",
  },
  {
    name: "the one before, while it waits for its restart: the same",
    query: "previous=true",
    given: only({ waiting: { reason: "CrashLoopBackOff" } }, { terminated }),
    want: "newest of web\n",
  },
  { name: "one that never ran", given: only({ terminated: { exitCode: 137 } }), want: 'container "web" in pod "p" is terminated' },
  {
    name: "one that did not start again",
    given: only({ terminated: { exitCode: 137 } }, { terminated }),
    want: "newest of web\n",
  },
  {
    name: "one that waits after one that never ran",
    given: only({ waiting: {} }, { terminated: { exitCode: 137 } }),
    want: 'container "web" in pod "p" is terminated',
  },
  {
    name: "one that is created",
    given: only({ waiting: { reason: "ContainerCreating" } }),
    want: 'container "web" in pod "p" is waiting to start: ContainerCreating',
  },
  {
    name: "one whose image cannot be pulled",
    given: only({ waiting: { reason: "ErrImagePull" } }),
    want: `container "web" in pod "p" is waiting to start: image can't be pulled`,
  },
  {
    name: "one whose image is tried again",
    given: only({ waiting: { reason: "ImagePullBackOff" } }),
    want: 'container "web" in pod "p" is waiting to start: trying and failing to pull image',
  },
  { name: "one without a state", given: only({}), want: 'container "web" in pod "p" is waiting to start - no logs yet' },
  { name: "a Pod without a status", given: {}, want: 'container "web" in pod "p" is not available' },
])("$name", async ({ query = "", given, want }) => {
  const { read } = await begin(logs(), undefined, given);
  expect(await read(query)).toBe(want);
});

test("the log of an init container, and of one that no longer has its file", async () => {
  const spec = { containers: containers("web", "side"), initContainers: containers("first") };
  const statuses = { initContainerStatuses: [status("first", { terminated })], ...only({ running: {} }) };
  const { read } = await begin(logs(), spec, statuses);
  expect(await read("container=first")).toBe("newest of first\n");
  expect(await read()).toBe(
    "a container name must be specified for pod p, choose one of: [web side] or one of the init containers: [first]",
  );
  expect(await read("container=nope")).toBe("container nope is not valid for pod p");
  const without = await begin(logs(false), undefined, only({ running: {} }));
  expect(await without.read()).toBe('unable to retrieve container logs for container "web" in pod "p": there is no log file');
});

test("a Pod that is simulated has no log", async () => {
  const { read } = await begin(logs(), undefined, running);
  expect(await read("", "simulated")).toContain("node n1 has no kubelet");
});

test("options are validated before the Pod is read", async () => {
  const { read } = await begin(logs(), undefined, running);
  expect(await read("limitBytes=0")).toBe('PodLogOptions "p" is invalid: limitBytes: Invalid value: 0: must be greater than 0');
  expect(await read("sinceSeconds=0")).toBe('PodLogOptions "p" is invalid: sinceSeconds: Invalid value: 0: must be greater than 0');
  expect(await read("sinceTime=today")).toContain('parsing time "today"');
  expect(await read("other=1")).toBe("newest of web\n");
});

test("a log needs the right to get pods/log", async () => {
  const { ask } = guardedServer();
  const user = { name: "alice", uid: "", groups: ["system:authenticated"] };
  expect(((await ask("GET", `${PODS}/p/log`, { user })).body as JsonObject)["message"]).toContain('cannot get resource "pods/log"');
});
