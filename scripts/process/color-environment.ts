/**
 * The environment for a program that shares our output: colors only for a terminal.
 *
 * Many tools also color their output in CI, and the escape codes then end up in log files.
 */
export function colorEnvironment(env: NodeJS.ProcessEnv, terminal: boolean): NodeJS.ProcessEnv {
  if (terminal) return env;
  const { FORCE_COLOR: _, ...rest } = env;
  return { ...rest, NO_COLOR: "1" };
}
