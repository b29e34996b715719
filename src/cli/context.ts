import type { Readable, Writable } from 'node:stream';
import type { startDaemon } from '../daemon/daemon.ts';
import type { OutputStream, Printer } from './print.ts';

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

/** What a command needs of the process it runs in. */
export interface CliContext {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: OutputStream;
  readonly stderr: Writable & OutputStream;
  readonly env: NodeJS.ProcessEnv;
  readonly version: string;
  readonly startDaemon: typeof startDaemon;
}

/** The same, once the options that every command has are known. */
export interface CommandContext extends CliContext {
  readonly printer: Printer;
  /** The home's folder as given; it may not exist yet. */
  readonly homeDir: string;
}
