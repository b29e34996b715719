export const EXIT = { ok: 0, failed: 1, wrongUse: 2, homeTaken: 3 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A command cannot do what it was asked; the message and the mend are for the person who asked. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;
  readonly mend: string | undefined;

  constructor(exitCode: ExitCode, message: string, mend?: string) {
    super(message);
    this.exitCode = exitCode;
    this.mend = mend;
  }
}
