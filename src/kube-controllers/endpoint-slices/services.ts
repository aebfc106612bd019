/** Which Services have endpoints, and the label and annotation of their endpoints. */
import type { Service } from "#kube";

export const HEADLESS_LABEL = "service.kubernetes.io/headless";
export const TRIGGER_TIME_ANNOTATION = "endpoints.kubernetes.io/last-change-trigger-time";

/** Endpoints of a Service without a selector are managed by another controller, and an ExternalName has none. */
export function isSelecting({ spec }: Service): boolean {
  return spec?.type !== "ExternalName" && spec?.selector !== undefined && spec.selector !== null;
}

export function hasAddress({ spec }: Service): boolean {
  return (spec?.clusterIP ?? "") !== "" && spec?.clusterIP !== "None";
}
