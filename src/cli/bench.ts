import { Argument, InvalidArgumentError, Option } from 'commander';
import { type CommandAction, CommandError, type DeclareCommand, EXIT } from './context.ts';

const lab = () => import('../../lab/commands/bench.ts');

/** A command of the laboratory, which only a checkout has: it is loaded when the command runs, and the product does not depend on it. */
export const fromLab =
  <Options>(load: () => Promise<CommandAction<Options>>): CommandAction<Options> =>
  async (options, context) =>
    (await load().catch(explainMissingLab))(options, context);

function explainMissingLab(error: unknown): never {
  if (
    error instanceof Error &&
    'code' in error &&
    error.code === 'ERR_MODULE_NOT_FOUND' &&
    /[\\/]lab[\\/]commands/.test(error.message)
  )
    throw new CommandError(
      EXIT.failed,
      'the benchmarks and the demo run in a checkout of Instar; an installation does not have them',
    );
  throw error;
}

export const declareBench: DeclareCommand = (bench, act) => {
  bench
    .command('list')
    .description('List the suites and the runs so far.')
    .action(act(fromLab(async () => (await lab()).listBench)));
  bench
    .command('run')
    .addArgument(
      new Argument('<suite>', 'the suite to run').choices(['workdays', 'desk', 'metaclaw', 'pipeline']),
    )
    .description('Run a suite under several conditions and report the differences, with intervals.')
    .option(
      '--condition <names>',
      'arms, separated by commas: baseline, notes, all-lessons, skills, skills-message, skills-imperfect, skills-distractors-50, skills-distractors-200, full, full-oracle; or all',
      'baseline,skills',
    )
    .option('--seeds <n>', 'number of seeds per condition', parseCount, 3)
    .option(
      '--policy <name>',
      'scripted, nano, oracle, null, a model of your config as provider/model, or instar/NAME: the model of train.engine',
      'scripted',
    )
    .option('--days <n>', 'run only the first n days', parseCount)
    .addOption(onlyOption())
    .addOption(
      new Option('--split <split>', 'workdays: the split of worlds')
        .choices(['train', 'gate', 'report'])
        .default('report'),
    )
    .option(
      '--rules <set>',
      'workdays: house, other, seed:N[:unseen-forms|:seen] (drawn, another set for each seed), or a file (default: seed:1; scripted, oracle, null: house)',
    )
    .option('--data <folder>', 'metaclaw: folder with its data (default: $INSTAR_BENCH_DATA)')
    .option('--set <name>', 'metaclaw: name of the question set (default: part1)')
    .option('--oracle <file>', 'metaclaw: file with commands that solve its questions')
    .option('--obey <chance>', 'scripted: probability of following a rule it was taught', parseChance)
    .option('--unaided <chance>', 'scripted: probability of following a rule it was not taught', parseChance)
    .option('--read <chance>', 'scripted: probability of reading the documents correctly', parseChance)
    .option('--failures <n>', 'number of failures that start the learner', parseCount, 3)
    .option('--runs <n>', 'pipeline: successive runs per condition', parseCount, 5)
    .option('--night-steps <n>', 'full, full-oracle: training steps per night', parseCount, 10)
    .addOption(
      new Option('--control <name>', 'full-oracle: a control condition for the trainer').choices([
        'shuffled-rewards',
        'no-lessons',
      ]),
    )
    .option('--jobs <n>', 'arms and seeds that run at once', parseCount)
    .option('--steps <n>', 'maximum number of replies per question', parseCount)
    .option('--hurry', 'wait for learning only at the end of a day, not after every question')
    .option('--run <name>', 'name of the run; a stopped run continues')
    .option('--details', 'print the whole report, not one page of it')
    .addHelpText('after', '\nExample:\n  $ instar lab bench run workdays --seeds 3\n')
    .action(act(fromLab(async () => (await lab()).runBenchmark)));
  bench
    .command('report')
    .argument('[run]', 'name of a run (default: the newest)')
    .description('Print the report of an earlier run.')
    .option('--details', 'print the whole report, not one page of it')
    .action(act(fromLab(async () => (await lab()).reportBench)));
};

export const onlyOption = (): Option =>
  new Option(
    '--only <questions>',
    'files: tasks on files; house: also questions on house rules; sample: also four on documents a day',
  ).choices(['files', 'house', 'sample']);

export function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 1000)
    throw new InvalidArgumentError('Give a number from 1 to 1000.');
  return count;
}

function parseChance(text: string): number {
  const chance = Number(text);
  if (text.trim() === '' || !(chance >= 0 && chance <= 1))
    throw new InvalidArgumentError('Give a number from 0 to 1.');
  return chance;
}
