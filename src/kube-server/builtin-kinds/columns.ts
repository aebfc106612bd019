/** Table columns as the server's printers declare them, decoded from the committed table when they are first asked for. */
import { once } from "#base";
import type { TableColumn } from "../resource-type.ts";
import { COLUMNS } from "./generated/columns.ts";

type Columns = { readonly descriptions: readonly string[]; readonly lines: ReadonlyMap<string, string> };
const columns = once(readColumns);

/** undefined for kinds that are never listed, such as reviews. */
export function columnsOf(apiVersion: string, plural: string): readonly TableColumn[] | undefined {
  const { descriptions, lines } = columns();
  return lines
    .get(`${apiVersion} ${plural}`)
    ?.split(";")
    .map((text) => {
      const [name = "", type = "", format = "", priority = "0", description = "0"] = text.split("|");
      return { name, type, format, priority: Number(priority), description: descriptions[Number(description)] ?? "" };
    });
}

function readColumns(): Columns {
  const all = COLUMNS.split("\n");
  const descriptions = all.filter((line) => line.startsWith('"')).map((line) => JSON.parse(line) as string);
  const lines = all
    .filter((line) => !line.startsWith('"'))
    .map((line): [string, string] => {
      const [apiVersion = "", plural = "", ...columns] = line.split(" ");
      return [`${apiVersion} ${plural}`, columns.join(" ")];
    });
  return { descriptions, lines: new Map(lines) };
}
