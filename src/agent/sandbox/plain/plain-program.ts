import type { WorkspaceFiles } from '../workspace-files.ts';
import { SandboxError } from '../workspace-limits.ts';

/** The input of a built-in command. */
export interface CommandInput {
  readonly args: readonly string[];
  readonly stdin: string;
  readonly files: WorkspaceFiles;
}

export interface CommandOutput {
  readonly code: number;
  readonly stdout?: string;
  readonly stderr?: string;
}

export type PlainProgram = (input: CommandInput) => Promise<CommandOutput>;

interface Flags {
  readonly given: ReadonlySet<string>;
  readonly rest: readonly string[];
}

/** `-rf a b` as `r`, `f` and the rest; `--` ends the flags. Throws a SandboxError for an unknown letter. */
export function readFlags(args: readonly string[], known: string): Flags {
  const given = new Set<string>();
  let at = 0;
  for (; at < args.length; at++) {
    const arg = args[at] ?? '';
    if (arg === '--') {
      at++;
      break;
    }
    if (!/^-./.test(arg)) break;
    for (const letter of arg.slice(1)) {
      if (!known.includes(letter)) throw new SandboxError(`${arg.slice(0, 40)} is not supported`);
      given.add(letter);
    }
  }
  return { given, rest: args.slice(at) };
}
