/** The mesh as a Mermaid flowchart: text that GitHub, GitLab and many wikis draw. */
import type { DrawnGraph, NodeKind } from "./model.ts";

const SHAPES: Readonly<Record<NodeKind, readonly [string, string]>> = {
  service: ["[", "]"],
  external: ["([", "])"],
  managed: ["[(", ")]"],
  unknown: ["{{", "}}"],
};

export function mermaidText({ nodes, edges }: DrawnGraph): string {
  const names = new Map(nodes.map(({ id }, at) => [id, `n${at}`]));
  const closed = edges.flatMap(({ open }, at) => (open ? [] : [at]));
  const lines = [
    "flowchart LR",
    ...nodes.map(({ id, kind }) => `  ${names.get(id) ?? ""}${SHAPES[kind][0]}"${escaped(id)}"${SHAPES[kind][1]}`),
    ...edges.map(({ from, to, open, ports, meaning }) => {
      const label = open ? ports : meaning;
      const arrow = open ? "-->" : "-.->";
      return `  ${names.get(from) ?? ""} ${arrow}${label === "" ? "" : `|"${escaped(label)}"|`} ${names.get(to) ?? ""}`;
    }),
    ...(closed.length === 0 ? [] : [`  linkStyle ${closed.join(",")} stroke:#b3261e,color:#b3261e`]),
  ];
  return `${lines.join("\n")}\n`;
}

/** Escapes with Mermaid's entity codes: quoted text could otherwise end the quote, or be read as HTML or Markdown. */
function escaped(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9 ./,:'_-]/g, (character) => `#${character.codePointAt(0) ?? 0};`);
}
