/**
 * Throws requests at a server in this process and notes what must not happen: an exception, a 500 that a real server would not give, a
 * prototype that changed, an answer that is no answer.
 */
import { FakeClock, seededRandom } from "#base";
import { fieldAt, type Json } from "#kube";
import { builtinKinds, createApiServer, createMemoryStore, type ApiResponse, type ApiServer } from "#kube-server";
import { fuzzRequest, type FuzzRequest } from "./fuzz-requests.ts";

const USER = { name: "admin", uid: "", groups: ["system:masters"] };

/** KUBE-FACTS 4, 6 and 12: where a real server answers 500, too. Anything else is ours. */
const KNOWN_500: readonly RegExp[] = [
  /unknown patch type: |expected a \[\]interface \{\}, but received|list element types are not identical|unable to find api field in struct/, // 4
  /does not contain declared merge key|The order in patch|\$setElementOrder|\$deleteFromPrimitiveList|\$retainKeys|invalid (patch|type)/, // 4
  /failed to create typed patch object/, // 6
  /failed to convert new object \(.*\) to proper version/, // 6: a wrong type, found after the merge
  /resourceVersion should not be set on objects to be created/, // 12
  /strconv\.ParseUint|resourceVersion: Invalid value/, // 12
];

export type FuzzReport = {
  readonly requests: number;
  readonly byStatus: ReadonlyMap<number, number>;
  readonly slowestMs: number;
  readonly slowest: string;
  /** Each with the number of the request: the same seed makes it again. */
  readonly wrong: readonly string[];
  /** Messages of the 500s that are as they should be. */
  readonly known: ReadonlySet<string>;
};

const WIDGETS = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "widgets.fuzz.test" },
  spec: {
    group: "fuzz.test",
    scope: "Namespaced",
    names: { plural: "widgets", kind: "Widget", singular: "widget" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {}, scale: { specReplicasPath: ".spec.size", statusReplicasPath: ".status.size" } },
        schema: {
          openAPIV3Schema: {
            type: "object",
            properties: {
              spec: {
                type: "object",
                required: ["size"],
                "x-kubernetes-validations": [{ rule: "self.size < 100" }, { rule: "!has(oldSelf.size) || self.size >= oldSelf.size" }],
                properties: {
                  size: { type: "integer", minimum: 0, default: 1 },
                  tags: { type: "array", items: { type: "string" }, "x-kubernetes-list-type": "set" },
                  parts: {
                    type: "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["name"],
                    items: {
                      type: "object",
                      required: ["name"],
                      properties: { name: { type: "string" }, count: { type: "integer", default: 2 } },
                    },
                  },
                  any: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
                },
              },
              status: { type: "object", properties: { size: { type: "integer" } } },
            },
          },
        },
      },
    ],
  },
} as const satisfies Json;

export function fuzzServer(seed: number): ApiServer {
  const store = createMemoryStore({ historyLimit: { events: 2_000 } });
  return createApiServer({ store, types: builtinKinds(store), clock: new FakeClock(), random: seededRandom(seed) });
}

export async function fuzz({ seed, requests }: { readonly seed: number; readonly requests: number }): Promise<FuzzReport> {
  const server = fuzzServer(seed);
  const created = await askFuzzed(server, {
    method: "POST",
    url: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(WIDGETS),
  });
  if (created.status !== 201) throw new Error(`the definition of widgets was refused: ${JSON.stringify(created.body)}`);
  const run = new FuzzRun(server);
  const random = seededRandom(seed);
  for (let number = 0; number < requests; number += 1) await run.one(`seed ${seed}, request ${number}`, fuzzRequest(random, server));
  server.close();
  return run.report(requests);
}

class FuzzRun {
  readonly #server: ApiServer;
  readonly #byStatus = new Map<number, number>();
  readonly #wrong: string[] = [];
  readonly #known = new Set<string>();
  readonly #prototypes = prototypeNames();
  #slowestMs = 0;
  #slowest = "";

  constructor(server: ApiServer) {
    this.#server = server;
  }

  report(requests: number): FuzzReport {
    return {
      requests,
      byStatus: this.#byStatus,
      slowestMs: this.#slowestMs,
      slowest: this.#slowest,
      wrong: this.#wrong,
      known: this.#known,
    };
  }

  async one(label: string, request: FuzzRequest): Promise<void> {
    const shown = `${label}: ${request.method} ${request.url.slice(0, 300)} ${JSON.stringify(request.headers)} ${request.body?.slice(0, 600) ?? ""}`;
    const start = performance.now();
    try {
      const response = await askFuzzed(this.#server, request);
      await this.#judge(shown, response);
    } catch (thrown) {
      this.#wrong.push(
        `${shown}\n  threw ${thrown instanceof Error ? (thrown.stack ?? thrown.message).split("\n").slice(0, 6).join("\n") : String(thrown)}`,
      );
    }
    const took = performance.now() - start;
    if (took > this.#slowestMs) [this.#slowestMs, this.#slowest] = [took, shown];
    if (prototypeNames() !== this.#prototypes) {
      this.#wrong.push(`${shown}\n  changed a prototype`);
      throw new Error(this.#wrong.at(-1));
    }
  }

  async #judge(shown: string, response: ApiResponse): Promise<void> {
    const { status, body } = response;
    this.#byStatus.set(status, (this.#byStatus.get(status) ?? 0) + 1);
    const text = body.kind === "json" ? JSON.stringify(body.value) : body.kind === "text" ? body.text : "";
    if (status === 500) this.#judge500(shown, text);
    else if (!Number.isInteger(status) || status < 200 || status > 504) this.#wrong.push(`${shown}\n  answered ${status}`);
    if (body.kind === "json" && status >= 400 && fieldAt(body.value, "code") !== status)
      this.#wrong.push(`${shown}\n  ${status} without its Status: ${text.slice(0, 300)}`);
  }

  #judge500(shown: string, text: string): void {
    if (KNOWN_500.some((known) => known.test(text))) this.#known.add(text.slice(0, 220));
    else this.#wrong.push(`${shown}\n  ${text.slice(0, 400)}`);
  }
}

function prototypeNames(): string {
  return [Object.prototype, Array.prototype, Function.prototype, String.prototype, Map.prototype]
    .map((one) => Object.getOwnPropertyNames(one).length)
    .join();
}

/** A stream is read as far as it goes by itself, then its client leaves. */
export async function askFuzzed(server: ApiServer, { method, url, headers, body }: FuzzRequest): Promise<ApiResponse> {
  const gone = new AbortController();
  const mark = url.indexOf("?");
  const query = new URLSearchParams(mark < 0 ? "" : url.slice(mark + 1));
  const response = await server.handle(
    { method, path: mark < 0 ? url : url.slice(0, mark), query, headers, body, user: USER },
    gone.signal,
  );
  if (response.body.kind === "stream") await leave(response.body.chunks, gone);
  return response;
}

async function leave(chunks: AsyncIterable<string>, gone: AbortController): Promise<void> {
  setImmediate(() => gone.abort());
  for await (const chunk of chunks) for (const line of chunk.trimEnd().split("\n")) JSON.parse(line);
}
