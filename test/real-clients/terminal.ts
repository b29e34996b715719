import { execFileSync } from 'node:child_process';
import { install, type Program } from './programs.ts';

/** A program in a terminal that nobody sees: what stands on its screen, and what is typed into it. */
export interface Terminal {
  /** Without blanks: a line may be broken anywhere. */
  screen(): string;
  type(text: string): void;
  /** A key by its name in tmux: `Enter`. */
  press(key: string): void;
  close(): void;
}

const WIDTH = 160;
const HEIGHT = 60;

/** tmux draws the screen as a person sees it; the server of this test ends with its program. */
export function openTerminal(
  program: Program,
  args: readonly string[],
  { cwd, env }: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Terminal {
  const { bin, nodeDir } = install(program);
  const server = `instar-${process.pid}-${program.client}`;
  const tmux = (...words: readonly string[]): string =>
    execFileSync('tmux', ['-L', server, '-f', '/dev/null', ...words], { encoding: 'utf8', env: all });
  const all = {
    ...env,
    PATH: `${nodeDir === undefined ? '' : `${nodeDir}:`}${process.env.PATH}`,
    TERM: 'xterm-256color',
    LANG: 'C.UTF-8',
  };
  tmux('new-session', '-d', '-x', `${WIDTH}`, '-y', `${HEIGHT}`, '-c', cwd, bin, ...args);
  return {
    screen: () => tmux('capture-pane', '-p', '-S', '-200'),
    type: (text) => tmux('send-keys', '-l', text),
    press: (key) => tmux('send-keys', key),
    close: () => tmux('kill-server'),
  };
}
