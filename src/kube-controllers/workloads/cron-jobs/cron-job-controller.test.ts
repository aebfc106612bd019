import { afterEach, expect, test } from "vitest";
import { expectOk } from "#base";
import { cronJobs, jobs as jobResource } from "#kube";
import {
  podTemplate,
  simulatedCluster,
  type SimulatedCluster,
  type SimulatedClusterOptions,
} from "../../../../test/builders/simulated-cluster.ts";

let cluster: SimulatedCluster;

const jobTemplate = (annotations?: Readonly<Record<string, string>>) => ({
  metadata: { labels: { run: "yes" } },
  spec: { template: podTemplate("work:1", { spec: { restartPolicy: "Never" }, ...(annotations === undefined ? {} : { annotations }) }) },
});
const SLOW = { "simulation.lattice.dev/exit-code": "0", "simulation.lattice.dev/exit-after": "150s" };

async function begin(spec: object = {}, options: SimulatedClusterOptions = {}): Promise<void> {
  cluster = await simulatedCluster(options);
  await cluster.create(cronJobs, "tick", { spec: { schedule: "* * * * *", jobTemplate: jobTemplate(), ...spec } });
}

afterEach(async () => void (await cluster.end()));

const status = async () => (await cluster.read(cronJobs, "tick")).status ?? {};
const jobs = async () => (await cluster.all(jobResource)).map(({ metadata }) => metadata.name);

test("a Job starts on the minute, and its end is recorded", async () => {
  await begin({ timeZone: "Europe/Berlin" });
  await cluster.live(59_000, 1_000);
  expect(await jobs()).toEqual([]);
  await cluster.live(3_000, 200);
  const [job] = await cluster.all(jobResource);
  expect(job?.metadata).toMatchObject({
    name: `tick-${Date.parse("2026-01-01T00:01:00Z") / 60_000}`,
    labels: { run: "yes" },
    annotations: { "batch.kubernetes.io/cronjob-scheduled-timestamp": "2026-01-01T01:01:00+01:00" },
  });
  expect(await status()).toMatchObject({ lastScheduleTime: "2026-01-01T00:01:00Z", lastSuccessfulTime: expect.any(String) as string });
  expect(await status()).not.toHaveProperty("active");
  expect((await cluster.eventsOn("CronJob")).map((text) => text.split(":")[0])).toEqual([
    "Normal SuccessfulCreate",
    "Normal SawCompletedJob",
  ]);
});

test("finished Jobs are kept up to the limits", async () => {
  await begin({ successfulJobsHistoryLimit: 1, failedJobsHistoryLimit: 0 });
  await cluster.live(200_000, 1_000);
  expect(await jobs()).toEqual([`tick-${Date.parse("2026-01-01T00:03:00Z") / 60_000}`]);
});

test.each([
  { policy: "Forbid", want: 1 },
  { policy: "Replace", want: 1 },
  { policy: "Allow", want: 2 },
])("while one runs, $policy leaves $want", async ({ policy, want }) => {
  await begin({ concurrencyPolicy: policy, jobTemplate: jobTemplate(SLOW) });
  await cluster.live(130_000, 1_000);
  await cluster.live(500);
  expect([(await jobs()).length, (await status()).active?.length]).toEqual([want, want]);
  const name = (await jobs())[0];
  expect(name?.endsWith(String(Date.parse(policy === "Replace" ? "2026-01-01T00:02:00Z" : "2026-01-01T00:01:00Z") / 60_000))).toBe(true);
});

test("a suspended CronJob starts nothing, and missed runs beyond the deadline are skipped", async () => {
  await begin({ suspend: true, startingDeadlineSeconds: 15 });
  await cluster.live(100_000, 1_000);
  await cluster.patch(cronJobs, "tick", { spec: { suspend: false } });
  await cluster.live(1_000, 500);
  expect(await jobs()).toEqual([]);
});

test("an invalid schedule or time zone is reported", async () => {
  await begin({});
  const broken = async (spec: object) => {
    const answer = await cluster.client.patch(
      cronJobs,
      { namespace: "default", name: "tick" },
      { type: "merge", patch: { spec } as never },
    );
    return answer.ok;
  };
  // the server rejects both today; an older object may still have one
  expect([await broken({ timeZone: "Mars/Olympus" }), await broken({ schedule: "x" })]).toEqual([false, false]);
});

test("a missing Job is recorded, and a Job of another origin is reported", async () => {
  await begin({ jobTemplate: jobTemplate(SLOW), concurrencyPolicy: "Forbid" });
  await cluster.live(62_000, 1_000);
  const [name = ""] = await jobs();
  expectOk(await cluster.client.delete(jobResource, { namespace: "default", name }, { propagation: "Background" }));
  await cluster.live(500);
  expect(await cluster.eventsOn("CronJob")).toContain(`Normal MissingJob: Active job went missing: ${name}`);
  const { uid = "" } = (await cluster.read(cronJobs, "tick")).metadata;
  const ownerReferences = [{ apiVersion: "batch/v1", kind: "CronJob", name: "tick", uid, controller: true }];
  await cluster.create(jobResource, "stranger", { metadata: { ownerReferences }, spec: jobTemplate(SLOW).spec });
  await cluster.live(200);
  expect(await cluster.eventsOn("CronJob")).toContain(
    "Warning UnexpectedJob: Saw a job that the controller did not create or forgot: stranger",
  );
});

test("a Job that cannot be created or deleted is reported", async () => {
  let broken = true;
  await begin(
    { successfulJobsHistoryLimit: 0 },
    {
      between: (client) => ({
        ...client,
        create: (resource, object, call) =>
          broken && resource.kind === "Job"
            ? Promise.resolve({ ok: false, error: { kind: "forbidden", message: "no" } })
            : client.create(resource, object, call),
        delete: (resource, key, call) =>
          resource.kind === "Job"
            ? Promise.resolve({ ok: false, error: { kind: "forbidden", message: "never" } })
            : client.delete(resource, key, call),
      }),
    },
  );
  await cluster.live(61_000, 1_000);
  expect(await cluster.eventsOn("CronJob")).toContain("Warning FailedCreate: Error creating job: no");
  broken = false;
  await cluster.live(20_000, 500);
  expect(await cluster.eventsOn("CronJob")).toContain("Warning FailedDelete: Deleted job: never");
});

test("a Job whose status write failed is found again, and a Job of another owner with that name is not changed", async () => {
  let forget = true;
  await begin(
    { jobTemplate: jobTemplate(SLOW) },
    {
      between: (client) => ({
        ...client,
        update: (resource, object, call) =>
          forget && resource.kind === "CronJob"
            ? Promise.resolve({ ok: false, error: { kind: "unavailable", message: "later" } })
            : client.update(resource, object, call),
      }),
    },
  );
  await cluster.live(61_000, 1_000);
  expect([(await jobs()).length, (await status()).active]).toEqual([1, undefined]);
  forget = false;
  await cluster.live(10_000, 500);
  expect((await status()).active?.length).toBe(1);
  await cluster.create(jobResource, `tick-${Date.parse("2026-01-01T00:02:00Z") / 60_000}`, { spec: jobTemplate().spec });
  await cluster.live(60_000, 1_000);
  expect((await status()).lastScheduleTime).toBe("2026-01-01T00:01:00Z");
});
