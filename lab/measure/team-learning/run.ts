/**
 * npm run bench:team-learning [-- --seeds 6 --days 15 --tasks 3 --seldom 0.2 --write]
 *
 * Three members of one gateway, and rules of the house that no prompt states, drawn by seed. Six count for all of them; the daily work
 * of a member is about three of the six, and three of the six are met by two members. One task in five is about one of the others. A
 * seventh rule is a member's own: nobody shares it. The model obeys a rule when a lesson in its prompt teaches it; the member says what
 * was wrong, and learning quotes that. Each evening every member is measured on every rule of the house, on other tasks.
 */
import { parseArgs } from 'node:util';
import { sessionsNeeded } from '../../../src/lessons/effect/sessions-needed.ts';
import { writeSection } from '../markdown.ts';
import { drawTeamWork, type TeamWork } from './member-work.ts';
import { playTeam } from './play-team.ts';
import { type PlayedSeed, reportTeams, TEAM_ARMS } from './team-report.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '6' },
    days: { type: 'string', default: '15' },
    /** Of a member in a day. */
    tasks: { type: 'string', default: '3' },
    /** The chance that a task is about a rule of the others' daily work. */
    seldom: { type: 'string', default: '0.2' },
    write: { type: 'boolean', default: false },
  },
});
const [count, days, tasks, seldom] = [values.seeds, values.days, values.tasks, values.seldom].map(Number);
if (!(count && days && tasks && seldom)) {
  process.stderr.write('--seeds, --days, --tasks and --seldom take numbers above 0.\n');
  process.exit(2);
}

/** Drawn before the first is played: that takes all of the main thread. */
const drawn: { readonly seed: number; readonly work: TeamWork }[] = [];
const left: number[] = [];
for (let seed = 1; drawn.length < count; seed++) {
  const work = drawTeamWork({ seed, days, tasks, seldom });
  if (work === undefined) left.push(seed);
  else drawn.push({ seed, work });
}

/** Learning waits more than it works. */
const AT_ONCE = 2;
const seeds: PlayedSeed[] = [];
const waiting = [...drawn];
const play = async (): Promise<void> => {
  for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
    const { seed, work } = next;
    const arms = await Promise.all(
      TEAM_ARMS.map(async (arm) => ({ arm, played: await playTeam(work, arm) })),
    );
    seeds.push({ seed, arms });
    for (const { arm, played } of arms)
      process.stderr.write(`seed ${seed}, ${arm.name}: ${JSON.stringify(played)}\n`);
  }
};
await Promise.all(Array.from({ length: AT_ONCE }, play));
seeds.sort((a, b) => a.seed - b.seed);

const text = [
  `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}. \`npm run bench:team-learning -- --seeds ${count} --days ${days} --tasks ${tasks} --seldom ${seldom}${values.write ? ' --write' : ''}\`. A day is ${tasks} tasks of each member, not a date; \`learn.failures: 1\`, no learning model. Seeds ${drawn.map(({ seed }) => seed).join(', ')}${left.length === 0 ? '' : ` (left out, because one of their rules is recognised in the words about others: ${left.join(', ')})`}.`,
  '',
  reportTeams(seeds, days),
  '',
  `With a tenth of the sessions held out, about ${sessionsNeeded(0.1)} scored sessions of one lesson show a difference of 50 points; here a member meets a rule of the daily work about ${((tasks * (1 - seldom)) / 4).toFixed(1)} times a day.`,
].join('\n');
process.stdout.write(`${text}\n`);
if (values.write) writeSection('docs/team.md', 'bench:team-learning', text);
