import { afterAll } from 'vitest';
import { type CliResult, createTemporaryFolder, startCli } from '../cli/run-cli.ts';

export interface BenchCli {
  readonly home: string;
  /** `instar bench …` as people run it; `kill` is asked with each piece of progress whether it is time. */
  bench(args: readonly string[], kill?: (progress: string) => boolean): Promise<CliResult>;
}

/** In a home that the tests of a file share. */
export function openBenchCli(): BenchCli {
  const { dir: home, remove } = createTemporaryFolder();
  afterAll(remove);
  return {
    home,
    bench: (args, kill = () => false) => {
      const { child, ended } = startCli(['bench', ...args, '--home', home], { HOME: home });
      child.stderr?.on('data', (progress: string) => {
        if (kill(progress)) child.kill('SIGKILL');
      });
      return ended();
    },
  };
}
