import { Argument, type Command, InvalidArgumentError, Option } from 'commander';
import type { Act } from './record-commands.ts';

/** The commands about what was learned. */
export function addLessonCommands(program: Command, act: Act): void {
  const lessons = program
    .command('lessons')
    .description('Everything learned, with evidence and measured effect.');
  lessons
    .command('list')
    .description('List lessons.')
    .addOption(
      new Option('--state <state>', 'only in this state').choices([
        'proposed',
        'trial',
        'live',
        'retired',
        'rejected',
      ]),
    )
    .option('--kind <kind>', 'only of this kind, such as skill')
    .option('--all', 'also retired and rejected ones')
    .action(act(async () => (await import('./lessons.ts')).listLessons));
  lessons
    .command('show')
    .argument('<lesson>', 'its id or name')
    .description('Show what a lesson says, what it rests on and what became of it.')
    .action(act(async () => (await import('./lessons.ts')).showLesson));
  lessons
    .command('why')
    .argument('<turn>', 'a turn')
    .description('Explain what a turn was shown, what it was not, and why.')
    .addHelpText('after', '\nExample:\n  $ instar lessons why t_abc\n')
    .action(act(async () => (await import('./lessons.ts')).whyLessons));
  lessons
    .command('review')
    .option('--apply', 'merge what says the same and retire what nobody needed')
    .description('Show what waits for you, what says the same, what contradicts and what nobody needed.')
    .action(act(async () => (await import('./lessons.ts')).reviewLessons));
  const changing = (name: string, description: string): Command =>
    lessons
      .command(name)
      .argument('<lesson>', 'its id or name')
      .option('--reason <text>', 'why, for the history')
      .description(description);
  changing('approve', 'Let a lesson in: a proposed one goes on trial, one on trial goes live.')
    .option('--live', 'straight to live, without a trial')
    .option('--hash <hash>', 'only if it still says what you saw (the hash that `lessons show` prints)')
    .action(act(async () => (await import('./lessons.ts')).approveLesson));
  changing('reject', 'Turn a proposed lesson down.')
    .option('--hash <hash>', 'only if it still says what you saw')
    .action(act(async () => (await import('./lessons.ts')).rejectLesson));
  changing('retire', 'Take a lesson out of use; it is kept and can be approved again.').action(
    act(async () => (await import('./lessons.ts')).retireLesson),
  );
  changing('pin', 'Never hide a lesson for its age, never retire it by measurement.')
    .option('--off', 'no longer')
    .action(act(async () => (await import('./lessons.ts')).pinLesson));
  changing('freeze', 'Let no learner change a lesson.')
    .option('--off', 'no longer')
    .action(act(async () => (await import('./lessons.ts')).freezeLesson));
  lessons
    .command('import')
    .argument('<path>', 'a SKILL.md, a skill folder, or a folder of them')
    .addOption(
      new Option('--as <state>', 'the state they start in')
        .choices(['proposed', 'trial', 'live'])
        .default('live'),
    )
    .description('Take in skills of the SKILL.md format (Claude Code, OpenClaw, MetaClaw).')
    .addHelpText('after', '\nExample:\n  $ instar lessons import ~/.claude/skills\n')
    .action(act(async () => (await import('./lessons.ts')).importLessons));
  lessons
    .command('export')
    .argument('<dir>', 'a folder; it is made if it is missing')
    .option('--overwrite', 'also write over folders that something else made')
    .option('--all', 'also proposed and retired ones')
    .description('Write skills as SKILL.md folders.')
    .action(act(async () => (await import('./lessons.ts')).exportLessons));

  const generations = program.command('generations').description('The history of what prompts may contain.');
  generations
    .command('list')
    .description('List generations, newest first.')
    .action(act(async () => (await import('./generations.ts')).listGenerations));
  generations
    .command('diff')
    .addArgument(new Argument('<from>', 'a generation').argParser(parseGeneration))
    .addArgument(new Argument('[to]', 'a generation (default: the one in force)').argParser(parseGeneration))
    .description('Show what changed between two generations.')
    .action(act(async () => (await import('./generations.ts')).diffGenerations));
  generations
    .command('rollback')
    .addArgument(new Argument('<to>', 'a generation').argParser(parseGeneration))
    .description('Make prompts contain what they did then; this is a new generation.')
    .action(act(async () => (await import('./generations.ts')).rollbackGeneration));
}

function parseGeneration(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('Give the number of a generation.');
  return Number(text);
}
