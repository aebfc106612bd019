/** The check `generated`: every generated file is as `npm run generate` writes it. */
import { generatedFiles, isGenerated, type GeneratedFiles } from "../generate/generated-files.ts";
import type { Finding } from "./finding.ts";
import { listFiles, readText, readTexts } from "./tree.ts";

const REMEDY = "npm run generate writes it";

export async function checkGenerated(root: string, wanted: GeneratedFiles = generatedFiles()): Promise<readonly Finding[]> {
  const findings: Finding[] = [];
  for (const [file, content] of wanted) {
    const present = await readText(root, file);
    if (present === undefined) findings.push({ file, message: `is missing; ${REMEDY}` });
    else if (present !== content) findings.push({ file, message: `differs from its source; ${REMEDY}` });
  }
  return [...findings, ...(await leftOver(root, wanted))];
}

/** A file with the mark of generated files, in a folder of generated files, that no generator writes. */
async function leftOver(root: string, wanted: GeneratedFiles): Promise<readonly Finding[]> {
  const folders = new Set([...wanted.keys()].map((file) => file.slice(0, file.lastIndexOf("/") + 1)));
  const beside = (await listFiles(root)).filter((file) => folders.has(file.slice(0, file.lastIndexOf("/") + 1)) && !wanted.has(file));
  const texts = [...(await readTexts(root, beside))].filter(([, text]) => isGenerated(text));
  return texts.map(([file]) => ({ file, message: "no generator writes it any more; delete it" }));
}
