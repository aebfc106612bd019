/** A preview of workload patches as text. */
import { flowText } from "#compile";
import type { Json } from "#kube";
import { pathText, type FieldPreview } from "#workload-patch";
import type { Preview, ServicePreview } from "./patch-preview.ts";

const LONGEST = 72;

export function formatPreview({ services, flows }: Preview): string {
  const opened = flows.opened.map((flow) => `  opened  ${flowText(flow)}`);
  const closed = flows.closed.map((flow) => `  closed  ${flowText(flow)}`);
  const lines = [...opened, ...closed];
  const flowLines = lines.length === 0 ? ["no flow opens or closes"] : ["flows", ...lines];
  return `${[...services.flatMap(serviceLines), ...flowLines].join("\n")}\n`;
}

function serviceLines({ service, deployment, preview }: ServicePreview): readonly string[] {
  if (preview === undefined) return [`${service}: there is no Deployment ${deployment}; it is patched when it is created`, ""];
  const { fields, missingContainers, isApplied, conflicts, skipped } = preview;
  const verb = isApplied ? "has patched" : "would patch";
  return [
    `${service} ${verb} Deployment ${deployment}`,
    ...fields.map((field) => `  ${fieldText(field)}`),
    ...missingContainers.map((name) => `  ! container ${name}: not in the Deployment, and never created`),
    ...conflicts.map(({ path, manager, until }) => `  ! ${pathText(path)}: left to ${manager ?? "another manager"} until ${until}`),
    ...skipped.map(({ path, reason }) => `  ! ${pathText(path)}: not patched; ${reason}`),
    "",
  ];
}

function fieldText({ path, before, after, owner }: FieldPreview): string {
  const text = owner === undefined ? "" : `  (${owner.manager}, ${owner.operation})`;
  if (before === undefined) return `+ ${path}: ${shortly(after)}${text}`;
  if (after === undefined) return `- ${path}: ${shortly(before)}${text}`;
  return `~ ${path}: ${shortly(before)} -> ${shortly(after)}${text}`;
}

function shortly(value: Json | undefined): string {
  const text = JSON.stringify(value ?? null);
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1)}…`;
}
