/**
 * What is generated from src/crds: CRD manifests, JSON Schemas for editors, and the tables and examples in the docs.
 *
 * A page in docs/resources is written by hand except between two markers, so the page itself is an input here: text outside the markers is
 * kept.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { latticeKinds, type AnyLatticeKind, type FieldRow } from "#crds";
import { formatYaml } from "#kube";
import { projectRoot } from "../process/project.ts";

const NOTE = "Written by `npm run generate` from src/crds; change it there.";

/** Paths are relative to the project. */
export function generateCrdFiles(): ReadonlyMap<string, string> {
  return new Map(
    latticeKinds.flatMap((kind): [string, string][] => {
      const page = pageOf(kind);
      return [
        [`deploy/crds/${kind.plural}.yaml`, `# ${NOTE}\n${formatYaml(kind.crd())}`],
        [`deploy/schemas/${kind.kind.toLowerCase()}.json`, `${JSON.stringify({ $comment: NOTE, ...kind.jsonSchema() }, null, 2)}\n`],
        [page, fillPage(page, readProjectFile(page), kind)],
      ];
    }),
  );
}

function pageOf(kind: AnyLatticeKind): string {
  return `docs/resources/${kind.kind.toLowerCase()}.md`;
}

function readProjectFile(path: string): string {
  return readFileSync(join(projectRoot, path), "utf8");
}

const MARKED = /<!-- generated: ([^\n]+?) -->\n[^]*?<!-- end -->/g;

/** Fills `<!-- generated: fields -->` and `<!-- generated: example FILE -->`, each up to `<!-- end -->`. */
export function fillPage(page: string, text: string, kind: AnyLatticeKind, read: (path: string) => string = readProjectFile): string {
  if (!text.includes("<!-- generated: fields -->\n")) throw new Error(`${page} has no line "<!-- generated: fields -->"`);
  return text.replace(MARKED, (_, what: string) => `<!-- generated: ${what} -->\n${contentFor(page, what, kind, read)}\n<!-- end -->`);
}

function contentFor(page: string, what: string, kind: AnyLatticeKind, read: (path: string) => string): string {
  if (what === "fields") return fieldTables(kind.fields());
  const file = /^example ([a-z0-9-]+\.yaml)$/.exec(what)?.[1];
  if (file === undefined) throw new Error(`${page} asks for "${what}"; there are "fields" and "example FILE"`);
  return `\`\`\`yaml\n${read(`examples/${file}`).trimEnd()}\n\`\`\``;
}

function fieldTables(rows: readonly FieldRow[]): string {
  const tables = ["spec", "status"].map((part) => {
    const below = rows.filter(({ path }) => path.startsWith(`${part}.`));
    const rules = rows.find(({ path }) => path === part)?.rules ?? [];
    const lines = below.map(({ path, type, description, ...row }) =>
      tableLine([
        `\`${path}\``,
        `${type}${row.required ? ", required" : ""}`,
        defaultOf(row.default),
        [description, ...row.rules.map(asSentence)].join(" "),
      ]),
    );
    const together = rules.length === 0 ? [] : ["", ...rules.map((rule) => `- ${asSentence(rule)}`)];
    return [tableLine(["field", "type", "default", "what it is"]), "|---|---|---|---|", ...lines, ...together].join("\n");
  });
  return tables.join("\n\n");
}

function defaultOf(value: FieldRow["default"]): string {
  return value === undefined ? "" : `\`${JSON.stringify(value)}\``;
}

/** Rules are written for error messages, without a full stop. */
function asSentence(rule: string): string {
  return `Rule: ${rule}.`;
}

/** `|` would end a cell. */
function tableLine(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}
