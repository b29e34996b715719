import { Argument, Option } from 'commander';
import type { DeclareCommand } from '../../src/cli/context.ts';
import { numberBetween, wholeNumber } from '../../src/cli/usage.ts';

// Loaded when they run: `instar lab engine` is declared beside them, and needs no suite.
type Bench = typeof import('./bench.ts');
const listBench: Bench['listBench'] = async (...args) => (await import('./bench.ts')).listBench(...args);
const runBenchmark: Bench['runBenchmark'] = async (...args) =>
  (await import('./bench.ts')).runBenchmark(...args);
const reportBench: Bench['reportBench'] = async (...args) =>
  (await import('./bench.ts')).reportBench(...args);
const demo: typeof import('./demo.ts')['demo'] = async (...args) => (await import('./demo.ts')).demo(...args);

export const declareBench: DeclareCommand = (bench, act) => {
  bench.command('list').description('List the suites and the runs so far.').action(act(listBench));
  bench
    .command('run')
    .addArgument(
      new Argument('<suite>', 'the suite to run').choices(['workdays', 'desk', 'metaclaw', 'pipeline']),
    )
    .description('Run a suite under several conditions and report the differences, with intervals.')
    .option(
      '--condition <names>',
      'arms, separated by commas: baseline, notes, all-lessons, skills, skills-message, full, full-oracle; or all',
      'baseline,skills',
    )
    .option('--seeds <n>', 'number of seeds per condition', count, 3)
    .option(
      '--policy <name>',
      'scripted, nano, oracle, null, a model of your config as provider/model, or instar/NAME: the model of train.engine',
      'scripted',
    )
    .option('--days <n>', 'run only the first n days', count)
    .addOption(onlyOption())
    .addOption(
      new Option('--split <split>', 'workdays: the split of worlds')
        .choices(['train', 'gate', 'report'])
        .default('report'),
    )
    .option(
      '--rules <set>',
      'workdays: house, other, seed:N (drawn, another set for each seed), or a file (default: seed:1; scripted, oracle, null: house)',
    )
    .option('--data <folder>', 'metaclaw: folder with its data (default: $INSTAR_BENCH_DATA)')
    .option('--set <name>', 'metaclaw: name of the question set (default: part1)')
    .option('--oracle <file>', 'metaclaw: file with commands that solve its questions')
    .option('--obey <chance>', 'scripted: probability of following a rule it was taught', chance)
    .option('--unaided <chance>', 'scripted: probability of following a rule it was not taught', chance)
    .option('--read <chance>', 'scripted: probability of reading the documents correctly', chance)
    .option('--failures <n>', 'number of failures that start the learner', count, 3)
    .option('--runs <n>', 'pipeline: successive runs per condition', count, 5)
    .option('--night-steps <n>', 'full, full-oracle: training steps per night', count, 10)
    .addOption(
      new Option('--control <name>', 'full-oracle: a control condition for the trainer').choices([
        'shuffled-rewards',
        'no-lessons',
      ]),
    )
    .option('--jobs <n>', 'arms and seeds that run at once', count)
    .option('--steps <n>', 'maximum number of replies per question', count)
    .option('--hurry', 'wait for learning only at the end of a day, not after every question')
    .option('--run <name>', 'name of the run; a stopped run continues')
    .option('--details', 'print the whole report, not one page of it')
    .addHelpText('after', '\nExample:\n  $ instar lab bench run workdays --seeds 3\n')
    .action(act(runBenchmark));
  bench
    .command('report')
    .argument('[run]', 'name of a run (default: the newest)')
    .description('Print the report of an earlier run.')
    .option('--details', 'print the whole report, not one page of it')
    .action(act(reportBench));
};

export const declareDemo: DeclareCommand = (command, act) =>
  void command
    .option('--fast', 'fewer days, questions and training steps; the output lists what is left out')
    .option('--seeds <n>', 'number of seeds per condition (default: 1)', count)
    .option('--seed <n>', 'the first seed (default: 1)', count)
    .option('--days <n>', 'run only the first n of the 14 days', count)
    .addOption(onlyOption())
    .option('--night-steps <n>', 'full: training steps per night', count)
    .option('--keep', 'keep the files of the run')
    .addHelpText(
      'after',
      '\nThe demo uses the embedded policy. It needs no key and no\nnetwork and does not touch your home.\n\nExample:\n  $ instar lab demo --fast\n',
    )
    .action(act(demo));

const onlyOption = (): Option =>
  new Option(
    '--only <questions>',
    'files: tasks on files; house: also questions on house rules; sample: also four on documents a day',
  ).choices(['files', 'house', 'sample']);

const count = wholeNumber(1, 1000);
const chance = numberBetween(0, 1);
