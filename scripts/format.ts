/** `npm run format`: formats every file in place; arguments narrow it to files or folders. */
import { projectRoot, toolPath } from "./process/project.ts";
import { runNode } from "./process/run-program.ts";

const ran = await runNode(toolPath("oxfmt"), process.argv.slice(2), { cwd: projectRoot, output: "show" });
process.exitCode = ran.code;
