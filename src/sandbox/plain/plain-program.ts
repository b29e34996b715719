import type { Files } from '../files.ts';

/** The input of a built-in command. */
export interface CommandInput {
  readonly args: readonly string[];
  readonly stdin: string;
  readonly files: Files;
}

export interface CommandOutput {
  readonly code: number;
  readonly stdout?: string;
  readonly stderr?: string;
}

export type PlainProgram = (input: CommandInput) => Promise<CommandOutput>;
