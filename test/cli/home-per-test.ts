import { afterEach, beforeEach } from 'vitest';
import { createTemporaryFolder, type RunningCli, startCli } from './run-cli.ts';

export interface HomePerTest {
  /** The home of the test that runs. */
  readonly folder: { readonly dir: string };
  /** Starts the command in it, on any free port. */
  up(args?: readonly string[], env?: NodeJS.ProcessEnv): RunningCli;
}

/** A home per test, for a command that stays in the foreground. Processes still running after the test are killed. */
export function homePerTest(...command: readonly string[]): HomePerTest {
  let folder: ReturnType<typeof createTemporaryFolder>;
  let running: RunningCli[];
  beforeEach(() => {
    folder = createTemporaryFolder();
    running = [];
  });
  afterEach(async () => {
    for (const { child, ended } of running) {
      child.kill('SIGKILL');
      await ended();
    }
    folder.remove();
  });
  return {
    folder: {
      get dir() {
        return folder.dir;
      },
    },
    up: (args = [], env) => {
      const cli = startCli([...command, '--home', folder.dir, '--port', '0', ...args], env);
      running.push(cli);
      return cli;
    },
  };
}
