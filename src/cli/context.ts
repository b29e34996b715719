import type { Readable, Writable } from 'node:stream';
import type { startDaemon } from '../app/daemon.ts';
import type { OutputStream, Printer } from './print.ts';

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
