/** Properties of the whole server that hold for every sequence of requests. */
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expectOk, FakeClock, seededRandom } from "#base";
import { fieldAt, jsonEqual, type Json, type JsonObject } from "#kube";
import { builtinSchema, createMergePatch, createTwoWayStrategicPatch } from "#patch";
import { builtinKinds, createApiServer, createMemoryStore, type ApiServer } from "#kube-server";

const USER = { name: "admin", uid: "", groups: ["system:masters"] };

type Answer = { readonly code: number; readonly body: JsonObject };

function newServer() {
  const store = createMemoryStore();
  const server = createApiServer({ store, types: builtinKinds(store), clock: new FakeClock(), random: seededRandom(3) });
  const ask = async (method: string, url: string, body?: Json, type = "application/json"): Promise<Answer> => {
    const response = await send(server, { method, url, body, type }, new AbortController().signal);
    if (response.body.kind !== "json") throw new Error(`${method} ${url}: ${response.status}`);
    return { code: response.status, body: JSON.parse(JSON.stringify(response.body.value)) as JsonObject };
  };
  return { server, ask };
}
type Ask = ReturnType<typeof newServer>["ask"];

type Sent = { readonly method: string; readonly url: string; readonly body?: Json | undefined; readonly type?: string };

function send(server: ApiServer, { method, url, body, type = "application/json" }: Sent, signal: AbortSignal) {
  const [path = "", query = ""] = url.split("?");
  const headers = { accept: "application/json", "user-agent": "test/1", "content-type": type };
  const text = body === undefined ? {} : { body: JSON.stringify(body) };
  return server.handle({ method, path, query: new URLSearchParams(query), headers, ...text, user: USER }, signal);
}

const MERGE = "application/merge-patch+json";
const metaText = (object: Json | undefined, name: string): string => {
  const text = fieldAt(object, "metadata", name);
  return typeof text === "string" ? text : "";
};
const nameOf = (object: Json | undefined) => metaText(object, "name");
const keyOf = (object: Json | undefined) => `${metaText(object, "namespace")}/${nameOf(object)}`;
const versionOf = (object: Json | undefined) => Number(fieldAt(object, "metadata", "resourceVersion"));
/** Lists leave out the kind of their items. */
const bare = (object: JsonObject): JsonObject => ({ ...object, kind: undefined, apiVersion: undefined });

describe("watch = list + events", () => {
  const KINDS = { configmaps: "/api/v1", leases: "/apis/coordination.k8s.io/v1", serviceaccounts: "/api/v1" } as const;
  const plural = fc.constantFrom(...(Object.keys(KINDS) as (keyof typeof KINDS)[]));
  const namespace = fc.constantFrom("default", "kube-system");
  const name = fc.constantFrom("a", "b", "c");
  const labels = fc.record({ colour: fc.constantFrom("red", "blue") }, { requiredKeys: [] });
  const step = fc.record({
    plural,
    namespace,
    name,
    labels,
    do: fc.constantFrom(
      "create",
      "create",
      "patch",
      "patch",
      "apply",
      "replace",
      "hold",
      "release",
      "delete",
      "delete",
      "deletecollection",
    ),
  });
  type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

  async function perform(ask: Ask, { plural: kind, namespace: space, name: at, labels: marked, do: what }: Step): Promise<void> {
    const all = `${KINDS[kind]}/namespaces/${space}/${kind}`;
    const one = `${all}/${at}`;
    if (what === "create") await ask("POST", all, { metadata: { name: at, labels: marked } });
    if (what === "patch")
      await ask(
        "PATCH",
        one,
        { metadata: { labels: { colour: marked.colour ?? null }, annotations: { at: JSON.stringify(marked) } } },
        MERGE,
      );
    if (what === "apply")
      await ask("PATCH", `${one}?fieldManager=m&force=true`, appliedAs(kind, at, marked), "application/apply-patch+yaml");
    if (what === "hold") await ask("PATCH", one, { metadata: { finalizers: ["test.example/hold"] } }, MERGE);
    if (what === "release") await ask("PATCH", one, { metadata: { finalizers: null } }, MERGE);
    if (what === "delete") await ask("DELETE", one);
    if (what === "deletecollection") await ask("DELETE", `${all}?labelSelector=colour%3Dred`);
    if (what === "replace") {
      const { code, body } = await ask("GET", one);
      await Promise.resolve(); // another writer may write here; then this write is a conflict
      if (code === 200) await ask("PUT", one, { ...body, metadata: { ...(body["metadata"] as JsonObject), labels: marked } });
    }
  }

  const KIND_NAMES = { configmaps: "ConfigMap", leases: "Lease", serviceaccounts: "ServiceAccount" } as const;
  const appliedAs = (kind: keyof typeof KINDS, at: string, marked: JsonObject): JsonObject => ({
    apiVersion: KINDS[kind].replace(/^\/apis?\//, ""),
    kind: KIND_NAMES[kind],
    metadata: { name: at, labels: marked },
  });

  const query = fc.constantFrom("", "labelSelector=colour%3Dred", "labelSelector=%21colour", "fieldSelector=metadata.name%3Da", "labelSelector=colour%20in%20(red,blue)&fieldSelector=metadata.name%21%3Db"); // prettier-ignore
  const view = fc.record({ plural, namespace: fc.option(namespace, { nil: undefined }), query, after: fc.nat(12), fresh: fc.boolean() });
  type View = typeof view extends fc.Arbitrary<infer T> ? T : never;

  class Watcher {
    readonly #url: string;
    readonly #fresh: boolean;
    readonly #seen = new Map<string, JsonObject>();
    #version = 0;
    #broken: unknown;
    readonly #gone = new AbortController();

    constructor({ plural: kind, namespace: space, query: selected, fresh }: View) {
      this.#url = `${KINDS[kind]}${space === undefined ? "" : `/namespaces/${space}`}/${kind}?${selected}`;
      this.#fresh = fresh;
    }

    async start(server: ApiServer, ask: Ask): Promise<void> {
      const { body } = await ask("GET", this.#url);
      const from = versionOf(body);
      this.#version = this.#fresh ? 0 : from;
      if (!this.#fresh) for (const item of body["items"] as readonly JsonObject[]) this.#seen.set(keyOf(item), bare(item));
      const watching = await send(
        server,
        { method: "GET", url: `${this.#url}&watch=1${this.#fresh ? "" : `&resourceVersion=${from}`}` },
        this.#gone.signal,
      );
      if (watching.body.kind !== "stream") throw new Error("no stream");
      this.#follow(watching.body.chunks).catch((thrown: unknown) => (this.#broken = thrown));
    }

    async #follow(chunks: AsyncIterable<string>): Promise<void> {
      for await (const chunk of chunks)
        for (const line of chunk.trimEnd().split("\n")) this.#take(JSON.parse(line) as { type: string; object: JsonObject });
    }

    #take({ type, object }: { type: string; object: JsonObject }): void {
      const key = keyOf(object);
      // the first events of a watch without a version come in the order of names
      if (this.#version > 0 && versionOf(object) <= this.#version)
        throw new Error(`${type} ${key}: time went from ${this.#version} to ${versionOf(object)}`);
      if (!this.#fresh || this.#version > 0) this.#version = versionOf(object);
      if ((type === "ADDED") === this.#seen.has(key))
        throw new Error(`${type} ${key} after ${this.#seen.has(key) ? "it was" : "nothing was"} there`);
      if (type === "DELETED") this.#seen.delete(key);
      else this.#seen.set(key, bare(object));
    }

    async check(ask: Ask): Promise<void> {
      if (this.#broken !== undefined) throw this.#broken;
      const { body } = await ask("GET", this.#url);
      const items = (body["items"] as readonly JsonObject[]).map((item) => [keyOf(item), bare(item)] as const);
      const sorted = [...this.#seen].toSorted(([a], [b]) => (a < b ? -1 : 1));
      if (
        !jsonEqual(
          sorted,
          items.toSorted(([a], [b]) => (a < b ? -1 : 1)),
        )
      )
        expect(sorted).toEqual(items);
    }

    end(): void {
      this.#gone.abort();
    }
  }

  /** Resolves when all pending work of this process is done. */
  const settled = () => new Promise((resolve) => setImmediate(resolve));

  it("holds after every step of several writers, for every namespace and selector", async () => {
    const writers = fc.array(fc.array(step, { minLength: 1, maxLength: 20 }), { minLength: 1, maxLength: 3 });
    const property = fc.asyncProperty(
      writers,
      fc.array(view, { minLength: 1, maxLength: 5 }),
      fc.scheduler(),
      async (plans, views, scheduler) => {
        const { server, ask } = newServer();
        const watchers: Watcher[] = [];
        const run = async (steps: readonly Step[]) => {
          for (const one of steps) await scheduler.schedule(Promise.resolve(), one.do).then(() => perform(ask, one));
        };
        const done = Promise.all(plans.map(run));
        for (let at = 0; scheduler.count() > 0; at += 1) {
          const starting = views.filter(({ after }) => after === at).map((one) => new Watcher(one));
          await Promise.all(starting.map((watcher) => watcher.start(server, ask)));
          watchers.push(...starting);
          await scheduler.waitNext(1);
          await settled();
          for (const watcher of watchers) await watcher.check(ask);
        }
        await done;
        for (const watcher of watchers) watcher.end();
        server.close();
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });

  it("pages that are read during writes are together the list at the time of the first page", async () => {
    const property = fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 40 }),
      fc.integer({ min: 1, max: 3 }),
      async (steps, limit) => {
        const { server, ask } = newServer();
        for (const one of steps) await perform(ask, { ...one, do: "create", plural: "configmaps" });
        const before = (await ask("GET", "/api/v1/configmaps")).body["items"];
        const pages: Json[] = [];
        let token: string | undefined = "";
        for (let at = 0; token !== undefined; at += 1) {
          const { body }: Answer = await ask(
            "GET",
            `/api/v1/configmaps?limit=${limit}${token === "" ? "" : `&continue=${encodeURIComponent(token)}`}`,
          );
          pages.push(...(body["items"] as readonly Json[]));
          const next = fieldAt(body, "metadata", "continue");
          token = typeof next === "string" && next !== "" ? next : undefined;
          const other = steps[at % steps.length];
          if (other !== undefined) await perform(ask, { ...other, plural: "configmaps" });
        }
        expect(pages).toEqual(before);
        server.close();
      },
    );
    await fc.assert(property, { numRuns: 60 });
  });
});

describe("a patch computed from two versions of an object turns the first into the second", () => {
  const DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments";
  const word = fc.constantFrom("a", "b", "c", "d");
  const env = fc.uniqueArray(fc.record({ name: word, value: word }), { selector: ({ name }) => name, maxLength: 4 });
  const port = fc
    .uniqueArray(fc.constantFrom(80, 81, 82), { maxLength: 3 })
    .map((numbers) => numbers.map((containerPort) => ({ containerPort, name: `p${containerPort}` })));
  const container = fc.record({ name: word, image: word, env, ports: port, args: fc.array(word, { maxLength: 3 }) });
  const containers = fc.uniqueArray(container, { selector: ({ name }) => name, minLength: 1, maxLength: 3 });
  const map = fc.dictionary(word, word, { maxKeys: 3 });
  const version = fc.record({
    containers,
    labels: map,
    annotations: map,
    // sorted: a list of scalars that only changes its order yields no patch, as in Kubernetes
    finalizers: fc.uniqueArray(fc.constantFrom("x.test/a", "x.test/b", "x.test/c"), { maxLength: 3 }).map((all) => all.toSorted()),
    strategy: fc.constantFrom({ type: "Recreate" }, { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: "10%" } }),
    replicas: fc.integer({ min: 0, max: 5 }),
    tolerations: fc.array(fc.record({ key: word, operator: fc.constant("Exists") }), { maxLength: 2 }),
  });
  type Version = typeof version extends fc.Arbitrary<infer T> ? T : never;

  const specOf = ({ containers: all, replicas, strategy, tolerations }: Version): JsonObject => ({
    replicas,
    strategy,
    selector: { matchLabels: { app: "x" } },
    template: { metadata: { labels: { app: "x" } }, spec: { containers: all, tolerations } },
  });
  const metaOf = ({ labels, annotations, finalizers }: Version): JsonObject => ({ name: "x", labels, annotations, finalizers });
  /** Fields that no patch contains: timestamps and managers. */
  const content = (object: JsonObject): JsonObject => {
    const { resourceVersion: _, managedFields: __, generation: ___, ...metadata } = object["metadata"] as JsonObject;
    return { ...object, metadata };
  };

  it.each(["strategic", "merge"] as const)("%s", async (kind) => {
    const schema = builtinSchema({ group: "apps", version: "v1", kind: "Deployment" });
    const property = fc.asyncProperty(version, version, async (first, second) => {
      const { server, ask } = newServer();
      const made = await ask("POST", DEPLOYMENTS, { metadata: metaOf(first), spec: specOf(first) });
      expect(made.code, JSON.stringify(made.body["message"])).toBe(201);
      const wanted = await ask("PUT", `${DEPLOYMENTS}/x?dryRun=All`, {
        ...made.body,
        metadata: { ...(made.body["metadata"] as JsonObject), ...metaOf(second) },
        spec: specOf(second),
      });
      expect(wanted.code, JSON.stringify(wanted.body["message"])).toBe(200);
      const [from, to] = [content(made.body), content(wanted.body)];
      const patch =
        kind === "strategic" && schema !== undefined ? expectOk(createTwoWayStrategicPatch(from, to, schema)) : mergePatch(from, to);
      const patched = await ask(
        "PATCH",
        `${DEPLOYMENTS}/x`,
        patch,
        kind === "strategic" ? "application/strategic-merge-patch+json" : MERGE,
      );
      expect(patched.code, JSON.stringify(patched.body["message"])).toBe(200);
      expect(content((await ask("GET", `${DEPLOYMENTS}/x`)).body)).toEqual(to);
      server.close();
    });
    await fc.assert(property, { numRuns: 60 });
  });

  const mergePatch = (from: Json, to: Json): Json => expectOk(createMergePatch(from, to));
});

describe("server-side apply tracks the owners of fields", () => {
  const MAPS = "/api/v1/namespaces/default/configmaps";
  const key = fc.constantFrom("a", "b", "c", "d");
  const data = fc.dictionary(key, fc.constantFrom("1", "2"), { minKeys: 1, maxKeys: 4, noNullPrototype: true });
  const move = fc.record({ manager: fc.constantFrom("ada", "bob"), data, force: fc.boolean() });

  /** The fields of data that a manager owns, according to managedFields. */
  function ownedBy(object: Json, manager: string): readonly string[] {
    const entries = (fieldAt(object, "metadata", "managedFields") ?? []) as readonly Json[];
    const own = entries.find((entry) => fieldAt(entry, "manager") === manager && fieldAt(entry, "operation") === "Apply");
    return Object.keys((fieldAt(own, "fieldsV1", "f:data") ?? {}) as JsonObject)
      .filter((field) => field !== ".")
      .map((field) => field.slice(2))
      .toSorted();
  }

  it("two managers: each owns what it applied last, a conflict changes nothing, and fields without an owner are removed", async () => {
    const property = fc.asyncProperty(fc.array(move, { minLength: 1, maxLength: 12 }), async (moves) => {
      const { server, ask } = newServer();
      const wants = new Map<string, Readonly<Record<string, string>>>();
      let values: Readonly<Record<string, string>> = {};
      for (const { manager, data: wanted, force } of moves) {
        const other = wants.get(manager === "ada" ? "bob" : "ada") ?? {};
        const before = await ask("GET", `${MAPS}/x`);
        const applied = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" }, data: wanted };
        const answer = await ask("PATCH", `${MAPS}/x?fieldManager=${manager}&force=${force}`, applied, "application/apply-patch+yaml");
        const contested = Object.keys(wanted).filter((field) => other[field] !== undefined && other[field] !== wanted[field]);
        if (contested.length > 0 && !force) {
          expect(answer.code).toBe(409);
          const causes = fieldAt(answer.body, "details", "causes") as readonly Json[];
          expect(new Set(causes.map((cause) => fieldAt(cause, "field")))).toEqual(new Set(contested.map((field) => `.data.${field}`)));
          expect(await ask("GET", `${MAPS}/x`)).toEqual(before);
          continue;
        }
        expect(answer.code).toBe(before.code === 200 ? 200 : 201);
        const left = Object.fromEntries(Object.entries(other).filter(([field]) => !contested.includes(field)));
        if (contested.length > 0) wants.set(manager === "ada" ? "bob" : "ada", left);
        wants.set(manager, wanted);
        values = { ...left, ...wanted };
        expect(fieldAt(answer.body, "data") ?? {}).toEqual(values);
        for (const [who, owned] of wants) expect(ownedBy(answer.body, who), who).toEqual(Object.keys(owned).toSorted());
        const again = await ask("PATCH", `${MAPS}/x?fieldManager=${manager}`, applied, "application/apply-patch+yaml");
        expect([again.code, versionOf(again.body)]).toEqual([200, versionOf(answer.body)]);
      }
      server.close();
    });
    await fc.assert(property, { numRuns: 150 });
  });
});
