import type { Files } from '../files.ts';

/** What a command is given, and what it leaves: text, complaints, and 0 when all went well. */
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
