/** The proposal of each metric of an autoscaler; the largest wins. A metric that cannot be read prevents scaling down, not up. */
import { err, ok, type Result } from "#base";
import { parseQuantity, quantityToNumber, type Autoscaler, type MetricSpec, type MetricStatus, type MetricTarget } from "#kube";
import { byUtilization, byValue, type Proposal, type Question } from "./replica-calculation.ts";

export type Unreadable = { readonly reason: string; readonly error: string; /** As the whole pass says it. */ readonly summary: string };

export type Proposals = {
  /** Undefined when no conclusion is possible. */
  readonly replicas: number | undefined;
  readonly metric: string;
  readonly statuses: readonly MetricStatus[];
  readonly unreadable: readonly Unreadable[];
};

type Asked = Omit<Question, "resource" | "container">;

export function proposalsOf({ spec }: Autoscaler, asked: Asked): Proposals {
  const metrics = spec.metrics ?? [];
  const answers = metrics.map((metric) => proposalOf(metric, asked));
  const unreadable = answers.flatMap((answer) => (answer.ok ? [] : [answer.error]));
  const readable = answers.flatMap((answer) => (answer.ok ? [answer.value] : []));
  const best = readable.reduce<Readable | undefined>(
    (most, one) => (most === undefined || one.replicas > most.replicas ? one : most),
    undefined,
  );
  const isHeldBack = unreadable.length > 0 && (best === undefined || best.replicas < asked.replicas);
  return {
    replicas: isHeldBack ? undefined : best?.replicas,
    metric: best?.metric ?? "",
    // a metric without a value keeps its position in the list
    statuses: answers.map((answer) => (answer.ok ? answer.value.status : { type: "" })),
    unreadable,
  };
}

type Readable = { readonly replicas: number; readonly metric: string; readonly status: MetricStatus };

function proposalOf(metric: MetricSpec, asked: Asked): Result<Readable, Unreadable> {
  const { type, resource, containerResource } = metric;
  if (type === "Resource" && resource !== undefined) {
    const { name, target } = resource;
    const answer = ask({ ...asked, resource: name }, target, "resource");
    if (!answer.ok) return err(unreadable("FailedGetResourceMetric", answer.error, `failed to get ${name} resource metric value`));
    const current = valueOf(name, answer.value.proposal);
    return ok({ ...answer.value.summary, status: { type, resource: { name, current } } });
  }
  if (type === "ContainerResource" && containerResource !== undefined) {
    const { name, container, target } = containerResource;
    const answer = ask({ ...asked, resource: name, container }, target, "container resource");
    if (!answer.ok)
      return err(unreadable("FailedGetContainerResourceMetric", answer.error, `failed to get ${container} container metric value`));
    const current = valueOf(name, answer.value.proposal);
    return ok({ ...answer.value.summary, status: { type, containerResource: { name, container, current } } });
  }
  const known = ["Pods", "Object", "External"].includes(type);
  const why = known ? `there is no source of ${type} metrics in this cluster` : `unknown metric source type "${type}"`;
  return err(
    unreadable(known ? `FailedGet${type}Metric` : "InvalidMetricSourceType", why, `failed to get ${type.toLowerCase()} metric value`),
  );
}

function unreadable(reason: string, error: string, failed: string): Unreadable {
  return { reason, error, summary: `${failed}: ${error}` };
}

function ask(
  question: Question,
  target: MetricTarget,
  what: string,
): Result<{ proposal: Proposal; summary: { replicas: number; metric: string } }, string> {
  const { resource } = question;
  if (target.averageValue !== undefined) {
    const wanted = parseQuantity(target.averageValue);
    const proposal = wanted.ok ? byValue(question, Math.ceil(quantityToNumber(wanted.value) * 1_000)) : wanted;
    if (!proposal.ok) return err(`failed to get ${resource} usage: ${proposal.error}`);
    return ok({ proposal: proposal.value, summary: { replicas: proposal.value.replicas, metric: `${resource} resource` } });
  }
  if (target.averageUtilization === undefined) {
    return err("invalid resource metric source: neither an average utilization target nor an average value (usage) target was set");
  }
  const proposal = byUtilization(question, target.averageUtilization);
  if (!proposal.ok) return err(`failed to get ${resource} utilization: ${proposal.error}`);
  return ok({
    proposal: proposal.value,
    summary: { replicas: proposal.value.replicas, metric: `${resource} ${what} utilization (percentage of request)` },
  });
}

function valueOf(resource: string, { average, utilization }: Proposal) {
  return { ...(utilization === undefined ? {} : { averageUtilization: utilization }), averageValue: quantityText(resource, average) };
}

/** "250m", "2"; memory with binary suffix when it is exact: "100Mi". */
export function quantityText(resource: string, milli: number): string {
  if (milli % 1_000 !== 0) return `${milli}m`;
  let value = milli / 1_000;
  if (resource !== "memory") return String(value);
  for (const suffix of ["", "Ki", "Mi", "Gi", "Ti", "Pi"]) {
    if (value === 0 || value % 1_024 !== 0) return `${value}${suffix}`;
    value /= 1_024;
  }
  return `${value}Ei`;
}
