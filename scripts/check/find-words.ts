/** `node scripts/check/find-words.ts [PATH…]`: what the checks `words` and `names` find below the paths. */
import { projectRoot } from "../process/project.ts";
import { formatFinding } from "./finding.ts";
import { checkNames } from "./names.ts";
import { checkWords } from "./words.ts";

const paths = process.argv.slice(2);
const findings = [...(await checkWords(projectRoot)), ...(await checkNames(projectRoot))];
for (const finding of findings) {
  if (paths.length === 0 || paths.some((path) => finding.file?.startsWith(path) === true)) console.log(formatFinding(finding));
}
