/** Columns and cells of a custom resource in a Table: its name, and the CRD's printer columns, or its age. */
import { goJsonText, goNumberText, type Json, type KubeObject } from "#kube";
import { parseTimestamp } from "#cel";
import type { TableColumn } from "../../resource-type.ts";
import type { CrdPrinterColumn } from "../crd/definition.ts";
import { MAX_VISITS, parseJsonPath, type JsonPath } from "./json-path.ts";
import type { VisitBudget } from "./json-path-steps.ts";
import { durationText } from "../../protocol/duration-text.ts";

const NAME: TableColumn = {
  name: "Name",
  type: "string",
  format: "name",
  description:
    "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names",
  priority: 0,
};

const AGE: CrdPrinterColumn = {
  name: "Age",
  type: "date",
  format: "",
  description:
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
  priority: 0,
  jsonPath: ".metadata.creationTimestamp",
};

export type Printer = { readonly columns: readonly TableColumn[]; readonly cells: (object: KubeObject, now: number) => readonly Json[] };

/** An invalid path ends the table there: the columns before it are shown. */
export function tablePrinter(declared: readonly CrdPrinterColumn[]): Printer {
  const columns: TableColumn[] = [NAME];
  const paths: { readonly path: JsonPath; readonly type: string }[] = [];
  for (const column of declared.length === 0 ? [AGE] : declared) {
    const path = parseJsonPath(column.jsonPath);
    if (!path.ok) break;
    const { name, type, format, priority } = column;
    const description =
      column.description === "" ? `Custom resource definition column (in JSONPath format): ${column.jsonPath}` : column.description;
    columns.push({ name, type, format, description, priority });
    paths.push({ path: path.value, type });
  }
  return {
    columns,
    cells: (object, now) => {
      const row = { left: MAX_ROW_VISITS };
      return [
        object.metadata.name,
        ...paths.map(({ path, type }) => cellWithin(row, { path, type, root: object as unknown as Json, now })),
      ];
    },
  };
}

/** The number of values that all paths of one row may visit. Columns beyond that are empty. */
const MAX_ROW_VISITS = 200_000;
/** Text is charged to the row, too: several columns with the whole object would multiply it. */
const CHARACTERS_PER_VISIT = 8;

type Cell = { readonly path: JsonPath; readonly type: string; readonly root: Json; readonly now: number };

function cellWithin(row: VisitBudget, { path, type, root, now }: Cell): Json {
  if (row.left <= 0) return null;
  const most = Math.min(row.left, MAX_VISITS);
  const budget = { left: most };
  const cell = cellOf(path(root, budget)[0], type, now);
  const characters = typeof cell === "string" ? cell.length : 0;
  row.left -= most - budget.left + Math.ceil(characters / CHARACTERS_PER_VISIT);
  return cell;
}

function cellOf(value: Json | undefined, type: string, now: number): Json {
  if (value === undefined || (value === null && type !== "string")) return null;
  switch (type) {
    case "string":
      return textOf(value);
    case "integer":
      return typeof value === "number" ? toInt64(value) : null;
    case "number":
      return typeof value === "number" ? value : null;
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "date":
      return typeof value === "string" ? ageOf(value, now) : null;
    default:
      return null;
  }
}

/** A number out of range becomes the smallest one, as in Go on amd64. */
function toInt64(value: number): number {
  return Math.abs(value) < 2 ** 63 ? Math.trunc(value) : -(2 ** 63);
}

function textOf(value: Json): string {
  if (value === null) return "<no value>";
  if (typeof value === "string") return value;
  return typeof value === "number" ? goNumberText(value) : goJsonText(value);
}

function ageOf(time: string, now: number): string {
  if (time === "" || time === "null") return "<unknown>";
  const parsed = parseTimestamp(time);
  return parsed.value === undefined ? "<invalid>" : durationText(now - Number(parsed.value.seconds) * 1000);
}
