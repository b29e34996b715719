import { spawn } from 'node:child_process';

export interface ShellStep {
  /** What the newcomer wants, for the transcript. */
  readonly why: string;
  readonly command: string;
  /** What was printed, with colours. */
  readonly output: string;
  readonly exitCode: number;
}

export interface ShellSession {
  /** Runs a command as a newcomer types it and keeps it for the transcript. Rejects when it fails, unless that is expected. */
  type(why: string, command: string, options?: { readonly fails?: true }): Promise<string>;
  /** The same for a command that is not part of the transcript. */
  quietly(command: string, options?: { readonly fails?: true }): Promise<string>;
  readonly steps: readonly ShellStep[];
}

const COLOUR = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');
export const withoutColour = (text: string): string => text.replace(COLOUR, '');

/** A shell in one folder with an environment of its own. */
export function createShellSession(options: {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
}): ShellSession {
  const steps: ShellStep[] = [];
  const runOnce = (command: string): Promise<Pick<ShellStep, 'output' | 'exitCode'>> =>
    new Promise((resolve, reject) => {
      const child = spawn('bash', ['-c', command], { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
      let output = '';
      for (const stream of [child.stdout, child.stderr])
        stream.on('data', (chunk: Buffer) => {
          output += chunk.toString();
        });
      child.on('error', reject);
      child.on('exit', (code) => setTimeout(() => resolve({ output, exitCode: code ?? 1 }), 20));
    });
  const runChecked = async (
    command: string,
    { fails }: { readonly fails?: true } = {},
  ): ReturnType<typeof runOnce> => {
    const done = await runOnce(command);
    if ((done.exitCode !== 0) !== (fails === true))
      throw new Error(`\`${command}\` ended with ${done.exitCode}:\n${done.output}`);
    return done;
  };
  return {
    steps,
    quietly: async (command, options) => withoutColour((await runChecked(command, options)).output),
    type: async (why, command, options) => {
      const done = await runChecked(command, options);
      steps.push({ why, command, ...done });
      return withoutColour(done.output);
    },
  };
}
