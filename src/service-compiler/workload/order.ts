/**
 * The start order of containers. A container that is `before` others is an init container; with a probe it is a sidecar that
 * keeps running, and the others wait until it has started.
 */
import { err, ok, type Result } from "#base";
import type { CompileError } from "../errors.ts";
import type { RenderedContainer } from "../rendering/render-service.ts";

export type ContainerOrder = { readonly first: readonly RenderedContainer[]; readonly main: readonly RenderedContainer[] };

export function orderContainers(containers: readonly RenderedContainer[]): Result<ContainerOrder, CompileError> {
  const byName = new Map(containers.map((container) => [container.name, container]));
  const sorted: RenderedContainer[] = [];
  const done = new Set<string>();
  const path: string[] = [];
  /** Visits later containers first, so that the list is in reverse order. */
  const visit = (container: RenderedContainer): readonly string[] | undefined => {
    if (done.has(container.name)) return undefined;
    const from = path.indexOf(container.name);
    if (from >= 0) return [...path.slice(from), container.name];
    path.push(container.name);
    // reversed like the list: containers without a constraint are ordered by name
    for (const other of (container.spec.before ?? []).toSorted().toReversed()) {
      const later = byName.get(other);
      const circle = later === undefined ? undefined : visit(later);
      if (circle !== undefined) return circle;
    }
    path.pop();
    done.add(container.name);
    sorted.push(container);
    return undefined;
  };
  for (const container of containers.toReversed()) {
    const circle = visit(container);
    if (circle !== undefined) return err({ kind: "circular-dependency", of: "containers", path: circle });
  }
  const ordered = sorted.toReversed();
  const isFirst = ({ spec }: RenderedContainer) => (spec.before ?? []).length > 0;
  return ok({ first: ordered.filter(isFirst), main: containers.filter((container) => !isFirst(container)) });
}

export function isSidecar({ spec }: RenderedContainer): boolean {
  return spec.startupProbe !== undefined || spec.readinessProbe !== undefined || spec.livenessProbe !== undefined;
}
