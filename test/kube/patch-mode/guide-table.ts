/** The table of docs/guides/patch-mode.md, from the measurements in measured/. */

const SECOND_RUN = "again, unchanged";
const RESTORED_BY_WRITE = "detached by a write of Lattice";
const ADDED = "env added";
const LABEL = "label added";
const RECORD = "annotation added";
const CHANGED = "env changed";

export type Measured = { readonly tool: string; readonly text: string };

export function guideTable(measured: readonly Measured[]): string {
  const head = [
    "| written by | owner of an added field | owner of a changed field | it sends at an added field | it sends at a changed field | the record | upgrade after a plain restoring write |",
    "|---|---|---|---|---|---|---|",
  ];
  return [...head, ...measured.map(row)].join("\n");
}

function row({ tool, text }: Measured): string {
  const [fromTheStart = "", ...others] = text.split(/^## /m).slice(1);
  const again = stepOf(fromTheStart, SECOND_RUN);
  const restored = others.find((scenario) => scenario.includes(RESTORED_BY_WRITE)) ?? "";
  const upgrade = stepOf(restored, "upgrade of a restored field");
  const added = incoming(again, ADDED);
  const label = incoming(again, LABEL);
  const cells = [
    tool,
    ownerOf(again, ADDED),
    ownerOf(again, CHANGED),
    added === label ? added : `${added} in the container, ${label} on the Deployment`,
    incoming(again, CHANGED),
    incoming(again, RECORD) === "absent" ? "removes it" : "keeps it",
    / fails: /.test(upgrade) ? "conflict" : "succeeds",
  ];
  return `| ${cells.join(" | ")} |`;
}

function stepOf(scenario: string, step: string): string {
  return scenario.split(/^ {2}(?=\S)/m).find((part) => part.startsWith(`${step}:`)) ?? "";
}

function resultOf(step: string, field: string): string {
  return step.split("\n").find((line) => /^ {4}/.test(line) && line.trim().split(": ")[0]?.split(", ").includes(field)) ?? "";
}

const ownerOf = (step: string, field: string) => {
  const owner = /; owner (.+)$/.exec(resultOf(step, field))?.[1];
  return owner === undefined ? "none" : `\`${owner}\``;
};

const incoming = (step: string, field: string) => /incoming ([^;]+)/.exec(resultOf(step, field))?.[1] ?? "";
