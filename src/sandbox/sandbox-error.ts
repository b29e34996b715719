/** An operation that a workspace does not allow, such as a path that leads out or a file above the limits. */
export class SandboxError extends Error {
  override readonly name = 'SandboxError';
}

/** The system's error code, such as `ENOENT`. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
