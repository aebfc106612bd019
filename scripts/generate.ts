/** `npm run generate`: writes every generated file anew. `npm run check` fails while one of them is not as written here. */
import { generatedFiles } from "./generate/generated-files.ts";
import { generatePatchTables } from "./generate/patch-tables.ts";
import { writeFiles } from "./generate/write-files.ts";
import { projectRoot } from "./process/project.ts";

// the tables of built-in kinds need the OpenAPI documents of a server; without them the committed tables are kept
await generatePatchTables();
const files = generatedFiles();
const written = await writeFiles(projectRoot, files);
for (const path of written) console.log(`wrote ${path}`);
console.log(`${files.size} generated files, ${written.length} of them changed`);
