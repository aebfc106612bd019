import { afterEach, expect, test } from "vitest";
import { expectOk } from "#base";
import { jobs, pods as podResource, type JobSpec } from "#kube";
import {
  defined,
  podTemplate,
  simulatedCluster,
  type SimulatedCluster,
  type SimulatedClusterOptions,
} from "../../../../test/builders/simulated-cluster.ts";

let cluster: SimulatedCluster;

type Given = { spec?: Partial<JobSpec>; pod?: object; annotations?: Readonly<Record<string, string>>; metadata?: object };

const template = ({ pod = {}, annotations }: Given) =>
  podTemplate("work:1", { spec: { restartPolicy: "Never", ...pod }, ...(annotations === undefined ? {} : { annotations }) });

async function begin(given: Given = {}, options: SimulatedClusterOptions = {}): Promise<void> {
  cluster = await simulatedCluster(options);
  await cluster.create(jobs, "work", {
    ...(given.metadata === undefined ? {} : { metadata: given.metadata }),
    spec: { ...given.spec, template: template(given) },
  });
}

afterEach(async () => void (await cluster.end()));

const SIMULATED = "simulation.lattice.dev/";
const exits = (code: number, after?: string) => ({
  [`${SIMULATED}exit-code`]: String(code),
  ...(after === undefined ? {} : { [`${SIMULATED}exit-after`]: after }),
});
const status = async () => (await cluster.read(jobs, "work")).status ?? {};
const conditions = async () =>
  ((await status()).conditions ?? []).map(({ type, status: truth, reason, message }) => `${type}=${truth} ${reason}: ${message}`);
const pods = async () => cluster.all(podResource);

test("a Job runs its Pods to completion, counts each once, and is Complete", async () => {
  await begin({ spec: { completions: 5, parallelism: 2 } });
  await cluster.live(60);
  expect(await status()).toMatchObject({ active: 2, ready: 2, terminating: 0 });
  await cluster.live(1_000);
  expect(await conditions()).toEqual([
    "SuccessCriteriaMet=True CompletionsReached: Reached expected number of succeeded pods",
    "Complete=True CompletionsReached: Reached expected number of succeeded pods",
  ]);
  const { succeeded, active, uncountedTerminatedPods, completionTime } = await status();
  expect([succeeded, active, uncountedTerminatedPods, typeof completionTime]).toEqual([5, undefined, {}, "string"]);
  expect((await pods()).map(({ metadata, status: { phase } = {} }) => [metadata.finalizers, phase])).toEqual(
    Array.from({ length: 5 }, () => [undefined, "Succeeded"]),
  );
  expect(await cluster.eventsOn("Job")).toContain("Normal Completed: Job completed");
});

test("without completions no Pod is created after the first success", async () => {
  await begin({ spec: { parallelism: 2 } });
  await cluster.live(500);
  expect((await status()).succeeded).toBe(2);
});

test("failures are retried with a growing back-off until the limit", async () => {
  await begin({ spec: { backoffLimit: 2 }, annotations: exits(1) });
  await cluster.live(5_000, 100);
  expect([(await status()).failed, (await pods()).length]).toEqual([1, 1]);
  await cluster.live(10_000, 500);
  expect((await status()).failed).toBe(2);
  await cluster.live(15_000, 500);
  expect((await status()).failed).toBe(2);
  await cluster.live(10_000, 500);
  expect(await conditions()).toEqual([
    "FailureTarget=True BackoffLimitExceeded: Job has reached the specified backoff limit",
    "Failed=True BackoffLimitExceeded: Job has reached the specified backoff limit",
  ]);
  expect(await cluster.eventsOn("Job")).toContain("Warning BackoffLimitExceeded: Job has reached the specified backoff limit");
});

test("with OnFailure the restarts inside the Pod are the failures", async () => {
  await begin({ spec: { backoffLimit: 1 }, pod: { restartPolicy: "OnFailure" }, annotations: exits(2) });
  await cluster.live(400);
  expect((await conditions()).at(-1)).toMatch(/^Failed=True BackoffLimitExceeded/);
});

test("a deadline ends the Job and its Pods", async () => {
  await begin({ spec: { activeDeadlineSeconds: 30 }, annotations: exits(0, "1h") });
  await cluster.live(29_000, 1_000);
  expect(await conditions()).toEqual([]);
  await cluster.live(3_000, 100);
  expect(await conditions()).toEqual([
    "FailureTarget=True DeadlineExceeded: Job was active longer than specified deadline",
    "Failed=True DeadlineExceeded: Job was active longer than specified deadline",
  ]);
  expect(await pods()).toEqual([]);
  expect(await status()).toMatchObject({ failed: 1, terminating: 0 });
});

test("suspending deletes the Pods without counting them; resuming starts again", async () => {
  await begin({ annotations: exits(0, "10s") });
  await cluster.live(100);
  const first = (await status()).startTime;
  await cluster.patch(jobs, "work", { spec: { suspend: true } });
  await cluster.live(200);
  expect([await conditions(), await pods(), (await status()).startTime]).toEqual([
    ["Suspended=True JobSuspended: Job suspended"],
    [],
    undefined,
  ]);
  await cluster.live(5_000, 500);
  await cluster.patch(jobs, "work", { spec: { suspend: false } });
  await cluster.live(200);
  expect(await conditions()).toEqual(["Suspended=False JobResumed: Job resumed"]);
  expect((await status()).startTime === first).toBe(false);
  await cluster.live(11_000, 500);
  expect(await status()).toMatchObject({ succeeded: 1 });
  expect((await cluster.eventsOn("Job")).filter((text) => /Suspended|Resumed/.test(text))).toEqual([
    "Normal Suspended: Job suspended",
    "Normal Resumed: Job resumed",
  ]);
});

test("with a lower parallelism the youngest Pod is deleted, uncounted", async () => {
  await begin({ spec: { completions: 4, parallelism: 3 }, annotations: exits(0, "10s") });
  await cluster.live(100);
  await cluster.patch(jobs, "work", { spec: { parallelism: 1 } });
  await cluster.live(100);
  expect([(await pods()).length, (await status()).failed]).toEqual([1, undefined]);
});

test("an indexed Job has one Pod per index, which has it in its environment", async () => {
  await begin({ spec: { completionMode: "Indexed", completions: 4, parallelism: 4 } });
  await cluster.live(60);
  const made = await pods();
  expect(
    made.map(({ metadata, spec }) => `${metadata.annotations?.["batch.kubernetes.io/job-completion-index"]} ${spec.hostname}`).toSorted(),
  ).toEqual(["0 work-0", "1 work-1", "2 work-2", "3 work-3"]);
  expect(made[0]?.spec.containers[0]?.env?.[0]?.name).toBe("JOB_COMPLETION_INDEX");
  await cluster.live(500);
  expect(await status()).toMatchObject({ completedIndexes: "0-3", succeeded: 4 });
});

test("of two Pods with one index one is deleted", async () => {
  await begin({ spec: { completionMode: "Indexed", completions: 2, parallelism: 2 }, annotations: exits(0, "10s") });
  await cluster.live(100);
  const [pod] = await pods();
  const { metadata, spec, ...rest } = defined(pod);
  const { name: _name, uid: _uid, resourceVersion: _version, generateName: _generate, ...kept } = metadata;
  const { nodeName: _node, ...unbound } = spec;
  expectOk(await cluster.client.create(podResource, { ...rest, metadata: { ...kept, name: "twin" }, spec: unbound }));
  await cluster.live(200);
  expect((await pods()).length).toBe(2);
});

test("with a limit per index one index may fail while the others continue", async () => {
  await begin(
    { spec: { completionMode: "Indexed", completions: 3, parallelism: 3, backoffLimitPerIndex: 1 } },
    { simulation: { faults: [{ kind: "exit", code: 1, on: { selector: "batch.kubernetes.io/job-completion-index=1" } }] } },
  );
  await cluster.live(1_000, 50);
  expect(await status()).toMatchObject({ completedIndexes: "0,2" });
  await cluster.live(15_000, 500);
  expect(await status()).toMatchObject({ failedIndexes: "1", failed: 2 });
  expect((await conditions()).at(-1)).toBe("Failed=True FailedIndexes: Job has failed indexes");
});

test("too many failed indexes end the Job at once", async () => {
  await begin({
    spec: { completionMode: "Indexed", completions: 3, parallelism: 3, backoffLimitPerIndex: 0, maxFailedIndexes: 1 },
    annotations: exits(1),
  });
  await cluster.live(1_000, 50);
  expect((await conditions()).at(-1)).toBe(
    "Failed=True MaxFailedIndexesExceeded: Job has exceeded the specified maximal number of failed indexes",
  );
});

test("a success policy completes the Job early and deletes the other Pods", async () => {
  await begin(
    { spec: { completionMode: "Indexed", completions: 3, parallelism: 3, successPolicy: { rules: [{ succeededIndexes: "0" }] } } },
    {
      simulation: {
        faults: [{ kind: "exit", code: 0, afterMs: 60_000, on: { selector: "batch.kubernetes.io/job-completion-index in (1,2)" } }],
      },
    },
  );
  await cluster.live(1_000, 50);
  expect(await conditions()).toEqual([
    "SuccessCriteriaMet=True SuccessPolicy: Matched rules at index 0",
    "Complete=True SuccessPolicy: Matched rules at index 0",
  ]);
});

test("a failure policy can ignore a failure, or fail the Job at once", async () => {
  const rule = (action: string, code: number) => ({ action, onExitCodes: { operator: "In", values: [code] } });
  const spec = { backoffLimit: 0, podFailurePolicy: { rules: [rule("Ignore", 7), rule("FailJob", 42)] } };
  await begin({ spec, annotations: exits(7) });
  await cluster.create(jobs, "strict", { spec: { ...spec, template: template({ annotations: exits(42) }) } });
  await cluster.live(15_000, 500);
  expect(await status()).not.toHaveProperty("failed");
  expect((await status()).conditions ?? []).toEqual([]);
  const { conditions: reported = [] } = (await cluster.read(jobs, "strict")).status ?? {};
  expect(reported.map(({ type, reason }) => [type, reason])).toEqual([
    ["FailureTarget", "PodFailurePolicy"],
    ["Failed", "PodFailurePolicy"],
  ]);
  expect(reported[0]?.message).toMatch(
    /^Container web for pod default\/strict-[a-z0-9]+ failed with exit code 42 matching FailJob rule at index 1$/,
  );
});

test("a finished Job is deleted after its TTL, with its Pods", async () => {
  await begin({ spec: { ttlSecondsAfterFinished: 60 } });
  await cluster.live(500);
  await cluster.live(58_000, 2_000);
  expect((await cluster.all(jobs)).length).toBe(1);
  await cluster.live(4_000, 500);
  await cluster.live(500);
  expect([await cluster.all(jobs), await pods()]).toEqual([[], []]);
});

test("an extended TTL that is not in the cache yet is respected", async () => {
  let ttl: number | undefined = 1_000;
  await begin(
    { spec: { ttlSecondsAfterFinished: 1 } },
    {
      between: (client) => ({
        ...client,
        get: async (resource, key, call) => {
          const answer = await client.get(resource, key, call);
          if (!answer.ok || resource.kind !== "Job" || ttl === undefined) return answer;
          return {
            ok: true,
            value: { ...answer.value, spec: { ...(answer.value as unknown as { spec: object }).spec, ttlSecondsAfterFinished: ttl } },
          };
        },
      }),
    },
  );
  await cluster.live(5_000, 200);
  expect((await cluster.all(jobs)).length).toBe(1);
  ttl = undefined;
});

test("Pods of a deleted Job lose their finalizer", async () => {
  await begin({ annotations: exits(0, "1h") });
  await cluster.live(100);
  expectOk(await cluster.client.delete(jobs, { namespace: "default", name: "work" }, { propagation: "Background" }));
  await cluster.live(500);
  expect(await pods()).toEqual([]);
});

test("a Job with managedBy of another controller is ignored", async () => {
  await begin({ spec: { managedBy: "example.com/other" } });
  await cluster.live(200);
  expect([await pods(), await status()]).toEqual([[], {}]);
});

test("a Pod that a user deletes counts as failed and is replaced", async () => {
  await begin({ annotations: exits(0, "1h") });
  await cluster.live(100);
  const [pod] = await pods();
  expectOk(await cluster.client.delete(podResource, { namespace: "default", name: pod?.metadata.name ?? "" }));
  await cluster.live(20_000, 500);
  expect(await status()).toMatchObject({ failed: 1, active: 1 });
});

test("a Pod that cannot be created is reported and retried", async () => {
  let broken = true;
  await begin(
    { spec: { completions: 3, parallelism: 3 } },
    {
      between: (client) => ({
        ...client,
        create: (resource, object, call) =>
          broken && resource.kind === "Pod"
            ? Promise.resolve({ ok: false, error: { kind: "forbidden", message: "no" } })
            : client.create(resource, object, call),
      }),
    },
  );
  await cluster.live(100);
  expect(await cluster.eventsOn("Job")).toContain("Warning FailedCreate: Error creating: no");
  broken = false;
  await cluster.live(10_000, 200);
  expect((await status()).succeeded).toBe(3);
});

test("a finalizer that cannot be removed is retried, and nothing is counted twice", async () => {
  let broken = true;
  await begin(
    {},
    {
      between: (client) => ({
        ...client,
        patch: (resource, key, body, call) =>
          broken && resource.kind === "Pod" && call?.subresource === undefined
            ? Promise.resolve({ ok: false, error: { kind: "unavailable", message: "later" } })
            : client.patch(resource, key, body, call),
      }),
    },
  );
  await cluster.live(300);
  expect(await status()).toMatchObject({ uncountedTerminatedPods: { succeeded: [expect.any(String)] } });
  broken = false;
  await cluster.live(5_000, 200);
  expect(await status()).toMatchObject({ succeeded: 1, uncountedTerminatedPods: {} });
});
