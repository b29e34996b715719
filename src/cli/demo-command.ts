import { type Command, Option } from 'commander';
import { parseCount } from './bench-commands.ts';
import type { Act } from './record-commands.ts';

/** The whole loop, to look at. */
export function addDemoCommand(program: Command, act: Act): void {
  program
    .command('demo')
    .description(
      'See the whole loop learn: workdays under baseline, skills and full, with the embedded policy.',
    )
    .option('--fast', 'fewer days, questions and training steps; it says what it leaves out')
    .option('--seeds <n>', 'how many different runs of each (default: 1)', parseCount)
    .option('--seed <n>', 'which run to begin with (default: 1)', parseCount)
    .option('--days <n>', 'only the first days, of 14', parseCount)
    .addOption(
      new Option('--only <questions>', 'only tasks on files, or these and questions on house rules').choices([
        'files',
        'house',
      ]),
    )
    .option('--night-steps <n>', 'full: training steps of one night', parseCount)
    .option('--html <file>', 'where to write the page (default: in a temporary folder)')
    .option('--keep', 'keep the run, with its journal and its homes')
    .addHelpText(
      'after',
      '\nIt needs no key and no network, and leaves your own home alone.\n\nExample:\n  $ instar demo --fast\n',
    )
    .action(act(async () => (await import('../../lab/commands/demo.ts')).demo));
}
