import { fromLab, onlyOption, parseCount } from './bench.ts';
import type { DeclareCommand } from './context.ts';

export const declareDemo: DeclareCommand = (command, act) =>
  void command
    .option('--fast', 'fewer days, questions and training steps; the output lists what is left out')
    .option('--seeds <n>', 'number of seeds per condition (default: 1)', parseCount)
    .option('--seed <n>', 'the first seed (default: 1)', parseCount)
    .option('--days <n>', 'run only the first n of the 14 days', parseCount)
    .addOption(onlyOption())
    .option('--night-steps <n>', 'full: training steps per night', parseCount)
    .option('--keep', 'keep the files of the run')
    .addHelpText(
      'after',
      '\nThe demo uses the embedded policy. It needs no key and no\nnetwork and does not touch your home.\n\nExample:\n  $ instar lab demo --fast\n',
    )
    .action(act(fromLab(async () => (await import('../../lab/commands/demo.ts')).demo)));
