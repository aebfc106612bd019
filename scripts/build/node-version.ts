/**
 * The first statement of every published file: it ends with one sentence on a Node that is too old, before anything newer is used.
 *
 * A program writes the sentence and exits. A library throws an error without stack frames, because the frames are all inside the package.
 */
export const MINIMUM_NODE = 24;

export function checkNodeVersion(onOldNode: "exit" | "throw"): string {
  const sentence = `\`Lattice needs Node.js ${MINIMUM_NODE} or later, but this is Node.js \${process.versions.node} (\${process.execPath}).\``;
  const end =
    onOldNode === "exit"
      ? `process.stderr.write(${sentence} + "\\n"); process.exit(1);`
      : `const error = new Error(${sentence}); error.stack = String(error); throw error;`;
  return `if (Number.parseInt(process.versions.node) < ${MINIMUM_NODE}) { ${end} }\n`;
}
