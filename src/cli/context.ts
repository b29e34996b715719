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

/** The command could not do what it was asked for. */
export const failure = (message: string, fix?: string): CommandError =>
  new CommandError(EXIT.failed, message, fix);

/** The command was called in a way that it does not understand. */
export const wrongUse = (message: string, fix?: string): CommandError =>
  new CommandError(EXIT.wrongUse, message, fix);

/** Errors that other rooms throw for what a person can do something about; by name, since most commands load none of them. */
const EXPECTED: Readonly<Record<string, readonly [exitCode: ExitCode, fix?: string]>> = {
  HomeInUseError: [EXIT.homeTaken, 'see: instar status'],
  ApiError: [EXIT.failed],
  StoreError: [EXIT.failed, 'see: instar doctor'],
};

/** The error as a person is told it; undefined for one that nobody expected. */
export function expectedError(error: unknown): CommandError | undefined {
  if (error instanceof CommandError) return error;
  const [exitCode, fix] = (error instanceof Error ? EXPECTED[error.name] : undefined) ?? [];
  const message = String((error as Error).message);
  return exitCode === undefined ? undefined : new CommandError(exitCode, message, fix);
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

/** How a command ended; undefined: well. */
export type Exit = ExitCode | undefined;

/** Implements one command. `args` of the options holds the positional arguments. */
export type CommandAction<Options> = (options: Options, context: CommandContext) => Promise<Exit>;

/** Makes a commander action of a command's implementation. */
export type Act = <Options>(action: CommandAction<Options>) => (this: Command) => Promise<void>;

/** Adds options, arguments, subcommands and the action to a command that has its name and description already. */
export type DeclareCommand = (command: Command, act: Act) => void;

/** Options of a command that takes positional arguments and nothing else. */
export interface Positional {
  readonly args: readonly string[];
}
