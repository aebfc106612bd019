/** The number of values in a JSON value. */
export function jsonSize(root: unknown): number {
  const ahead: unknown[] = [root];
  let count = 0;
  for (; ahead.length > 0; count++) {
    const value = ahead.pop();
    if (typeof value === "object" && value !== null) for (const inner of Object.values(value)) ahead.push(inner);
  }
  return count;
}
