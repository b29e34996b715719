import type { Workspace } from '../../src/agent/sandbox/workspace.ts';

/** How a program ended, or why it could not be run at all, which says nothing about the work. */
export type PythonEnd =
  | { readonly code: number; readonly stdout: string; readonly said: string }
  | { readonly failed: string };

/** A program that the workspace made last too long, say too much or run out of room did not end well. */
const STOPPED_CODE = 124;
/** What a shell answers for a program that is not there or may not be run. */
const NO_PROGRAM: readonly number[] = [126, 127];

/**
 * Runs a line of Python in the workspace, behind the wall. Isolated (`-I`): neither the workspace nor its environment
 * is asked for modules, so nothing that lies there can stand in for `json`; and nothing is written beside it (`-B`).
 */
export async function runPython(
  workspace: Workspace,
  code: string,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<PythonEnd> {
  const result = await workspace.run(['python3', '-I', '-B', '-c', code], { timeoutMs }, signal);
  switch (result.end) {
    case 'refused':
      return { failed: result.why };
    case 'stopped':
      if (result.why === 'aborted') return { failed: 'the check was aborted' };
      return { code: STOPPED_CODE, stdout: result.stdout, said: `stopped: ${result.why}` };
    case 'exit':
      if (NO_PROGRAM.includes(result.code))
        return { failed: `python3 cannot be run: ${lastLine(result.stderr)}` };
      return { code: result.code, stdout: result.stdout, said: lastLine(result.stderr) };
  }
}

const lastLine = (text: string): string => text.trimEnd().split('\n').at(-1)?.slice(0, 200) ?? '';
