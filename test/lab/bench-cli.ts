import { afterAll } from 'vitest';
import { type CliResult, createTemporaryFolder, startCli } from '../cli/run-cli.ts';

export interface BenchCli {
  readonly home: string;
  /** Runs `instar lab bench …`; `kill` decides at each line of progress whether to send SIGKILL. */
  bench(args: readonly string[], kill?: (progress: string) => boolean): Promise<CliResult>;
}

/** With one home for all tests of a file. */
export function openBenchCli(): BenchCli {
  const { dir: home, remove } = createTemporaryFolder();
  afterAll(remove);
  return {
    home,
    bench: (args, kill = () => false) => {
      const { child, ended } = startCli(['lab', 'bench', ...args, '--home', home], { HOME: home });
      child.stderr?.on('data', (progress: string) => {
        if (kill(progress)) child.kill('SIGKILL');
      });
      return ended();
    },
  };
}
