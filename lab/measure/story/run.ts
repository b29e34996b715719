/**
 * npm run bench:story [-- --sessions 400 --later 150 --measured 60 --nights 2 --steps 20 --effect 0.5 --kl 0.1 --rate 2e-3 --seed 1 --write]
 *
 * A user's weights learn the user's work, by command: an invented studio works with Instar as installed (a process of its own on an
 * empty home), 400 sessions in the task language of the embedded policy, under rules of forms that its pre-training never saw. The
 * user says what was wrong and has a check of their own (`studio-check.ts`, in the user's folder). Then a night: practice on tasks
 * from the record, and a training window. Weights that pass its test answer a share of the sessions (canary); the user goes on
 * working, and the next night compares old and new weights on these newest requests. Of 400 requests about 80 are held out, and
 * about 50 of the tasks that are found in them are in practice's gate split: too few to plan for an improvement of 20 points (about
 * 108), and enough for 50 (33), so that the user sets `train.effect` to 0.5. The test itself passes
 * smaller improvements, too, where they are plain. Copies of the home answer other tasks before and after. The control has the same sessions
 * without a word of the user and without a check: nothing may train.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { asArray, asNumber, asObject, asString, type JsonObject } from '../../../src/core/json.ts';
import { wilsonInterval } from '../../../src/stats/interval.ts';
import { pairedBootstrap } from '../../../src/stats/paired-bootstrap.ts';
import { markdownTable, writeSection } from '../markdown.ts';
import { askStudioTask, makeStudioTasks, type StudioResult, type StudioTask } from './studio-work.ts';
import { makeUserHome, type UserDaemon, type UserHome } from './user-daemon.ts';

const { values } = parseArgs({
  options: {
    sessions: { type: 'string', default: '400' },
    /** Sessions between two nights. */
    later: { type: 'string', default: '150' },
    measured: { type: 'string', default: '60' },
    nights: { type: 'string', default: '2' },
    /** Of a training window. */
    steps: { type: 'string', default: '20' },
    /** `train.effect`: the improvement that a test of the weights must be able to show. */
    effect: { type: 'string', default: '0.5' },
    /** `train.kl`: how firmly the weights are kept near the base model. */
    kl: { type: 'string', default: '0.1' },
    /** `train.learningRate`. At the embedded engine's default (5e-3) the weights forget too much: the gate rejects them. */
    rate: { type: 'string', default: '2e-3' },
    seed: { type: 'string', default: '1' },
    write: { type: 'boolean', default: false },
    /** Leaves the homes where they are. */
    keep: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
const began = performance.now();
const say = (text: string): void => void process.stderr.write(`${text}\n`);
const root = mkdtempSync(path.join(tmpdir(), 'instar-story-'));

/** Two at a time: while one answer is carried out, the other is written. */
const AT_ONCE = 2;

async function askAll(daemon: UserDaemon, name: string, tasks: readonly StudioTask[]) {
  const results: StudioResult[] = [];
  const left = tasks.map((task, at) => ({ task, at }));
  const work = async (): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift())
      results[next.at] = await askStudioTask(daemon, `${name}-${next.at}`, next.task);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return results;
}

/** The answers of a copy of the home: the home itself records neither the tasks nor the answers. */
async function measure(home: UserHome, name: string, tasks: readonly StudioTask[]) {
  const daemon = await home.copy(name).up();
  try {
    return await askAll(daemon, name, tasks);
  } finally {
    await daemon.down();
  }
}

/** One session a task, in order. With `isTold` the user rates each, and says what was wrong. */
async function work(daemon: UserDaemon, tasks: readonly StudioTask[], isTold: boolean, day = 'work') {
  const results: StudioResult[] = [];
  for (const [at, task] of tasks.entries()) {
    const session = `${day}-${at}`;
    const result = await askStudioTask(daemon, session, task);
    results.push(result);
    const { passed, isDone } = result.verdict;
    const note = isDone === false ? 'This is not what I asked for.' : task.question.feedback(result.verdict);
    if (isTold)
      await daemon.post('/v1/feedback', { session, score: passed ? 1 : -1, ...(passed ? {} : { note }) });
    if ((at + 1) % 25 === 0) say(`${at + 1} of ${tasks.length} sessions`);
  }
  return results;
}

/** What a night did, as Instar tells it. */
interface Night {
  readonly practice: string;
  readonly window: string;
  /** Updates in practice and steps of the window; a step without better and worse attempts changes nothing. */
  readonly updates: number;
  /** Tokens of practice. */
  readonly tokens: number;
  /** Groups of attempts, and those with better and worse ones. */
  readonly groups: number;
  readonly differing: number;
  /** What the gate said of the weights: at the end of practice, and in the window. */
  readonly decisions: readonly string[];
}

/** A command that refuses has said why. */
const told = async (home: UserHome, ...words: readonly string[]): Promise<string> =>
  home.instar(...words).catch((error: unknown) => asString(asObject(error).stderr) ?? String(error));

const meanText = (value: unknown): string => (asNumber(value) ?? 0).toFixed(3);

async function spendNight(home: UserHome, daemon: UserDaemon): Promise<Night> {
  const practice = (await told(home, 'practice', 'run')).trim();
  const report: JsonObject = await daemon.post('/api/practice/report', {}).catch(() => ({}));
  const window = (await told(home, 'train', 'run', '--steps', values.steps)).trim();
  const train = await daemon.get('/api/train');
  const weights = asObject(report.weights);
  const counts = asObject(report.counts);
  const last = asObject(train.window);
  const { count, candidate, live } = asObject(last.pairs);
  const compared =
    count === undefined ? [] : [`${count} pairs: ${meanText(candidate)} against ${meanText(live)}`];
  return {
    practice,
    window,
    updates: (asNumber(weights.steps) ?? 0) + (asNumber(last.done) ?? 0),
    tokens: asNumber(asObject(report.spent).tokens) ?? 0,
    groups: asNumber(counts.groups) ?? 0,
    differing: asNumber(counts.kept) ?? 0,
    decisions: [
      ...asArray(weights.said).map((one) => `practice: ${one}`),
      ...[...asArray(last.moves).map(String), ...compared].map((one) => `window: ${one}`),
      ...(last.problem === undefined ? [] : [`window: ${last.problem}`]),
    ],
  };
}

async function play(name: string, isTold: boolean) {
  const home = makeUserHome(path.join(root, name), (check) => ({
    models: { practice: 'instar/nano' },
    practice: { groupSize: 8 },
    train: {
      effect: Number(values.effect),
      kl: Number(values.kl),
      learningRate: Number(values.rate),
    },
    ...(isTold ? { learn: { verifiers: [{ domain: '*', kind: 'module', file: check }] } } : {}),
  }));
  const others = makeStudioTasks('measured', seed, Number(values.measured));
  let daemon = await home.up();
  const worked = await work(daemon, makeStudioTasks('work', seed, Number(values.sessions)), isTold);
  await daemon.down();
  const before = await measure(home, `${name}-before`, others);
  say(`${name}, before: ${countText(before)}`);
  daemon = await home.up();
  const nights: Night[] = [];
  for (let night = 1; night <= Number(values.nights); night++) {
    const done = await spendNight(home, daemon);
    nights.push(done);
    say(`night ${night}\n${done.practice}\n${done.window}`);
    if (done.updates === 0) break;
    if (night === Number(values.nights)) break;
    // Other tasks than those before: the seed of a day is its own.
    const tasks = makeStudioTasks('work', 1_000 * night + seed, Number(values.later));
    const between = await work(daemon, tasks, isTold, `later-${night}`);
    say(`${name}, between the nights: ${countText(between)}`);
  }
  const train = await daemon.get('/api/train');
  const status = (await home.instar('train', 'status')).trim();
  await daemon.down();
  const after = await measure(home, `${name}-after`, others);
  say(`${name}, after: ${countText(after)}`);
  return { home, worked, before, after, nights, train, status };
}

const isComplete = ({ verdict }: StudioResult): boolean => verdict.passed;

function shareText(kept: number, of: number): string {
  const { low, high } = wilsonInterval(kept, of);
  return `${((100 * kept) / of).toFixed(1)} % (${(100 * low).toFixed(0)} to ${(100 * high).toFixed(0)}; ${kept} of ${of})`;
}
const countText = (results: readonly StudioResult[]): string =>
  shareText(results.filter(isComplete).length, results.length);

/** Rules kept, of all rules that the tasks are about. */
function ruleText(results: readonly StudioResult[], tasks: readonly StudioTask[]): string {
  const of = tasks.reduce((sum, { question }) => sum + question.rules.length, 0);
  const broken = results.reduce(
    (sum, { verdict }, at) =>
      sum + (verdict.isDone === false ? (tasks[at]?.question.rules.length ?? 0) : verdict.broken.length),
    0,
  );
  return shareText(of - broken, of);
}

const studio = await play('studio', true);
const silent = await play('silent', false);
const tasks = makeStudioTasks('measured', seed, Number(values.measured));
const labFiles = ({ home }: typeof studio): number =>
  home.loaded().filter((url) => url.includes('/dist/lab/')).length;
const minedText = ({ train }: typeof studio): string => {
  const { tasks, withCheck, learn, gate } = asObject(asObject(train.supply).practice);
  return `${tasks ?? 0} (${withCheck ?? 0} with a check: ${learn ?? 0} to learn from, ${gate ?? 0} to measure on)`;
};
const sum = (nights: readonly Night[], key: 'updates' | 'tokens' | 'groups' | 'differing'): string =>
  nights.reduce((all, night) => all + night[key], 0).toLocaleString('en');
const agreeing = studio.worked.filter((one) => (one.reward === 1) === isComplete(one)).length;
const { mean, interval, isShown } = pairedBootstrap(
  studio.after.map((one, at) => ({
    block: tasks[at]?.id ?? '',
    a: Number(isComplete(one)),
    b: Number(studio.before[at] !== undefined && isComplete(studio.before[at])),
  })),
  { seed: `story/${seed}` },
);
const points = (share: number): string => `${share < 0 ? '−' : '+'}${Math.abs(100 * share).toFixed(1)}`;
const rowOf = (title: string, cell: (one: typeof studio) => string): readonly string[] => [
  title,
  cell(studio),
  cell(silent),
];
const said = ({ nights }: typeof studio): string =>
  nights.flatMap(({ decisions }) => decisions).join('; ') || 'nothing';
const text = [
  `${values.sessions} sessions, ${values.later} between two nights, ${values.measured} other tasks, ${values.steps} steps a window, train.effect ${values.effect}, train.kl ${values.kl}, train.learningRate ${values.rate}, seed ${seed}, ${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}.`,
  '',
  markdownTable(
    ['', 'the studio', 'nothing said, no check'],
    [
      rowOf('tasks complete in the recorded sessions', ({ worked }) => countText(worked)),
      rowOf('other tasks complete, before the nights', ({ before }) => countText(before)),
      rowOf('other tasks complete, after them', ({ after }) => countText(after)),
      rowOf('rules kept in other tasks, before', ({ before }) => ruleText(before, tasks)),
      rowOf('rules kept in other tasks, after', ({ after }) => ruleText(after, tasks)),
      rowOf('tasks of practice that were found', minedText),
      rowOf(
        'groups with better and worse attempts',
        ({ nights }) => `${sum(nights, 'differing')} of ${sum(nights, 'groups')}`,
      ),
      rowOf('nights', ({ nights }) => String(nights.length)),
      rowOf('updates in practice and steps of windows, idle ones included', ({ nights }) =>
        sum(nights, 'updates'),
      ),
      rowOf('tokens of practice', ({ nights }) => sum(nights, 'tokens')),
      rowOf('weights that serve', ({ train }) => `version ${asNumber(asObject(train.versions).live) ?? 0}`),
      rowOf('files of the benchmark that Instar loaded', (one) => String(labFiles(one))),
    ],
  ),
  '',
  `After minus before, tasks complete: ${points(mean ?? 0)} points${interval === undefined ? '' : ` (${points(interval.low)} to ${points(interval.high)})`}, ${isShown ? 'shown' : 'not shown to differ'}. The user's check and what the folder shows agree in ${shareText(agreeing, studio.worked.length)} of the recorded answers.`,
  '',
  `What the gate said (train.effect ${values.effect}), for the studio: ${said(studio)}. For the other: ${said(silent)}. ${Math.round((performance.now() - began) / 60_000)} minutes in all. \`instar train status\` after the last night, for the studio and for the other:`,
  '',
  '```',
  studio.status.replaceAll(root, '…'),
  '',
  silent.status.replaceAll(root, '…'),
  '```',
].join('\n');
process.stdout.write(`${text}\n`);
if (values.write) writeSection('docs/results.md', 'story', text);
if (values.keep) say(root);
else rmSync(root, { recursive: true, force: true });
