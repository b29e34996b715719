import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import type { Act } from './record-commands.ts';

/** The commands that measure whether an agent learns. */
export function addBenchCommands(program: Command, act: Act): void {
  const bench = program.command('bench').description('Simulated workdays that show whether an agent learns.');
  bench
    .command('list')
    .description('List the suites, and the runs there were.')
    .action(act(async () => (await import('../../lab/commands/bench.ts')).listBench));
  bench
    .command('run')
    .addArgument(new Argument('<suite>', 'what to run').choices(['workdays', 'metaclaw', 'pipeline']))
    .description('Run a suite under several conditions and report what differs, with intervals.')
    .option('--condition <names>', 'baseline, skills, full; several with commas', 'baseline,skills')
    .option('--seeds <n>', 'how many different runs of each', parseCount, 3)
    .option(
      '--policy <name>',
      'scripted, nano, oracle, null, or a model of your config as provider/model',
      'scripted',
    )
    .option('--days <n>', 'only the first days', parseCount)
    .addOption(
      new Option('--only <questions>', 'only tasks on files, or these and questions on house rules').choices([
        'files',
        'house',
      ]),
    )
    .addOption(
      new Option('--split <split>', 'workdays: which worlds')
        .choices(['train', 'gate', 'report'])
        .default('report'),
    )
    .addOption(
      new Option(
        '--form <form>',
        'workdays: how long the questions are (default: full; nano: short)',
      ).choices(['full', 'short']),
    )
    .option('--rules <set>', 'workdays: house, other, or a file with rules of your own', 'house')
    .option('--data <folder>', 'metaclaw: where its data lies (default: $INSTAR_BENCH_DATA)')
    .option('--set <name>', 'metaclaw: which of its sets', 'small')
    .option('--oracle <file>', 'metaclaw: commands that solve its questions')
    .option('--obey <chance>', 'scripted: to follow a rule it was taught', parseChance)
    .option('--unaided <chance>', 'scripted: to follow one that nobody told it', parseChance)
    .option('--read <chance>', 'scripted: to read the documents right', parseChance)
    .option('--failures <n>', 'failures that start the learner', parseCount, 3)
    .option('--runs <n>', 'pipeline: successive runs of each condition', parseCount, 5)
    .option('--night-steps <n>', 'full: training steps of one night', parseCount, 10)
    .addOption(
      new Option('--control <name>', 'full: a trainer from which something is taken').choices([
        'shuffled-rewards',
        'no-lessons',
      ]),
    )
    .option('--steps <n>', 'most replies to one question', parseCount)
    .option('--hurry', 'do not wait for what is learned before the next question, only before the next day')
    .option('--run <name>', "the run's name; one that was stopped goes on")
    .option('--html <file>', 'where to write the page (default: in the run’s folder)')
    .addHelpText('after', '\nExample:\n  $ instar bench run workdays --seeds 3\n')
    .action(act(async () => (await import('../../lab/commands/bench.ts')).runBenchmark));
  bench
    .command('report')
    .argument('[run]', 'a run; the newest unless named')
    .description('Show the report of a run again.')
    .option('--html <file>', 'write the page there')
    .action(act(async () => (await import('../../lab/commands/bench.ts')).reportBench));
}

export function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1 || count > 1000) throw new InvalidArgumentError('1 to 1000.');
  return count;
}

function parseChance(text: string): number {
  const chance = Number(text);
  if (text.trim() === '' || !(chance >= 0 && chance <= 1)) throw new InvalidArgumentError('0 to 1.');
  return chance;
}
