/** The Pods that a Job creates: with the tracking finalizer, and, when it is indexed, with their index in five places. Pure. */
import type { Container, Job, Pod, PodTemplate } from "#kube";
import {
  countAnnotation,
  hasLimitPerIndex,
  INDEX_ANNOTATION,
  INDEX_FAILURES,
  INDEX_IGNORED_FAILURES,
  isIndexed,
  TRACKING_FINALIZER,
} from "./job-facts.ts";
import { judge } from "./pod-failure-policy.ts";

export function jobTemplate(job: Job): PodTemplate {
  const { template } = job.spec;
  const { finalizers = [], ...metadata } = template.metadata ?? {};
  const tracked = finalizers.includes(TRACKING_FINALIZER) ? finalizers : [...finalizers, TRACKING_FINALIZER];
  const spec = isIndexed(job) ? withIndexVariables(template) : template.spec;
  return { metadata: { ...metadata, finalizers: tracked }, spec };
}

/** `replaced`: the failed Pod of the same index, whose failure count continues. */
export function indexedTemplate(job: Job, template: PodTemplate, index: number, replaced: Pod | undefined): PodTemplate {
  const text = String(index);
  const { metadata = {} } = template;
  const failures = hasLimitPerIndex(job) ? failureCounts(job, replaced) : {};
  return {
    metadata: {
      ...metadata,
      labels: { ...metadata.labels, [INDEX_ANNOTATION]: text },
      annotations: { ...metadata.annotations, [INDEX_ANNOTATION]: text, ...failures },
    },
    spec: { ...template.spec, hostname: `${job.metadata.name}-${text}` },
  };
}

function failureCounts(job: Job, replaced: Pod | undefined): Readonly<Record<string, string>> {
  if (replaced === undefined) return { [INDEX_FAILURES]: "0" };
  const { counts } = judge(job, replaced);
  const failures = countAnnotation(replaced, INDEX_FAILURES) + (counts ? 1 : 0);
  const ignored = countAnnotation(replaced, INDEX_IGNORED_FAILURES) + (counts ? 0 : 1);
  return { [INDEX_FAILURES]: String(failures), ...(ignored === 0 ? {} : { [INDEX_IGNORED_FAILURES]: String(ignored) }) };
}

/** The server adds five characters to it, and names have at most 63. */
export function indexedGenerateName(job: Job, index: number): string {
  const suffix = `-${index}-`;
  return `${job.metadata.name.slice(0, 58 - suffix.length)}${suffix}`;
}

const VARIABLE = "JOB_COMPLETION_INDEX";

function withIndexVariables({ spec }: PodTemplate): PodTemplate["spec"] {
  const withVariable = (container: Container): Container => {
    const { env = [] } = container;
    if (env.some(({ name }) => name === VARIABLE)) return container;
    const variable = { name: VARIABLE, valueFrom: { fieldRef: { fieldPath: `metadata.labels['${INDEX_ANNOTATION}']` } } };
    return { ...container, env: [...env, variable] };
  };
  const inits = spec.initContainers === undefined ? {} : { initContainers: spec.initContainers.map(withVariable) };
  return { ...spec, ...inits, containers: spec.containers.map(withVariable) };
}
