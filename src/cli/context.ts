import type { Readable, Writable } from 'node:stream';
import type { Command } from 'commander';
import type { startDaemon } from '../daemon/daemon.ts';
import type { OutputStream, Printer } from './print.ts';

export const EXIT = { ok: 0, failed: 1, wrongUse: 2, homeTaken: 3, interrupted: 130 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** The command failed. `message` says what happened and `fix` what the user can do about it; both are printed. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exitCode: ExitCode;
  readonly fix: string | undefined;

  constructor(exitCode: ExitCode, message: string, fix?: string) {
    super(message);
    this.exitCode = exitCode;
    this.fix = fix;
  }
}

/** The parts of the process that commands use. */
export interface CliContext {
  readonly stdin: Readable & { readonly isTTY?: boolean };
  readonly stdout: OutputStream;
  readonly stderr: Writable & OutputStream;
  readonly env: NodeJS.ProcessEnv;
  readonly version: string;
  readonly startDaemon: typeof startDaemon;
}

/** The same plus the parsed global options. */
export interface CommandContext extends CliContext {
  readonly printer: Printer;
  /** The home folder from `--home` or the environment; it may not exist yet. */
  readonly homeDir: string;
}

/** Implements one command. `args` of the options holds the positional arguments. */
export type CommandAction<Options> = (options: Options, context: CommandContext) => Promise<ExitCode>;

/** Makes a commander action of a command's implementation. */
export type Act = <Options>(action: CommandAction<Options>) => (this: Command) => Promise<void>;

/** Adds options, arguments, subcommands and the action to a command that has its name and description already. */
export type DeclareCommand = (command: Command, act: Act) => void;

/** Options of a command that takes positional arguments and nothing else. */
export interface Positional {
  readonly args: readonly string[];
}
