/** Something that a workspace does not do: a path that leads out, a file too many. The message says which. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
}

/** The system's own code of what went wrong: `ENOENT`. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
