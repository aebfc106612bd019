/**
 * Counts the usage of a quota's namespace from the existing objects.
 *
 * It reads from the server, not from the informers: a stale copy would release usage that was just added, and too much would be
 * admitted. The quota is read before the objects, so usage that is added in between causes a conflict and a new count.
 */
import { ok, type Result } from "#base";
import {
  countedKind,
  metadataOf,
  OWN_EVALUATORS,
  evaluatorOf,
  onlyNamed,
  usageOf,
  type Amounts,
  type KubeList,
  type KubeObject,
  type QuotaEvaluator,
  type Resource,
  type ParsedQuota,
} from "#kube";
import type { KubeError, KubeReader } from "#kube-client";
import type { ServedResource } from "../discovery.ts";

export type Counted = {
  readonly evaluator: QuotaEvaluator;
  /** Metadata is enough where objects are only counted. */
  readonly resource: Resource;
};

const PAGE = 500;
const NEEDED_VERBS = ["create", "list", "delete"];

/** The kinds that this quota counts. A name that no served kind has is ignored. */
export function countedBy(quota: ParsedQuota, served: readonly ServedResource[]): readonly Counted[] {
  const countable = served.filter(({ namespaced, verbs }) => namespaced && NEEDED_VERBS.every((verb) => verbs.has(verb)));
  const find = (group: string, plural: string) => countable.find((one) => one.group === group && one.plural === plural);
  const names = [...quota.wanted.keys()];
  const own = OWN_EVALUATORS.filter((evaluator) => names.some((name) => evaluator.tracks(name)));
  const others = names.flatMap((name) => {
    const kind = countedKind(name);
    const evaluator = kind === undefined ? undefined : evaluatorOf(kind.group, kind.plural);
    return evaluator === undefined || OWN_EVALUATORS.includes(evaluator) ? [] : [evaluator];
  });
  return [...own, ...others].flatMap((evaluator) => {
    const resource = find(evaluator.group, evaluator.plural);
    return resource === undefined ? [] : [{ evaluator, resource: own.includes(evaluator) ? resource : metadataOf(resource) }];
  });
}

type Recount = { readonly namespace: string; readonly now: number; readonly signal: AbortSignal };

export async function recount(
  client: KubeReader,
  quota: ParsedQuota,
  counted: readonly Counted[],
  { namespace, now, signal }: Recount,
): Promise<Result<Amounts, KubeError>> {
  let used = quota.used;
  for (const { evaluator, resource } of counted) {
    const objects = await listAll(client, resource, { namespace, signal });
    if (!objects.ok) return objects;
    const usage = usageOf(quota, evaluator, { objects: objects.value, now });
    used = new Map([...used, ...usage]);
  }
  return ok(onlyNamed(used, (name) => quota.wanted.has(name)));
}

async function listAll(
  client: KubeReader,
  resource: Resource,
  { namespace, signal }: Pick<Recount, "namespace" | "signal">,
): Promise<Result<readonly KubeObject[], KubeError>> {
  const objects: KubeObject[] = [];
  let rest: string | undefined;
  do {
    const page: Result<KubeList, KubeError> = await client.list(resource, { namespace, limit: PAGE, continue: rest }, { signal });
    if (!page.ok) return page;
    objects.push(...page.value.items);
    rest = page.value.metadata.continue;
  } while (rest !== undefined && rest !== "");
  return ok(objects);
}
