import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { asArray, asObject, type JsonObject, parseJson } from '../../src/core/json.ts';
import { isAttemptId } from '../../src/core/principal.ts';
import { readCuratedTasks } from '../../src/learn/practice/sources/curated-tasks.ts';
import { splitOf } from '../../src/learn/practice/sources/split.ts';
import { runCli, startCli } from '../cli/run-cli.ts';
import { ask } from '../support/client.ts';
import { makeHome, type RunningDaemon, startDaemon } from '../support/daemon.ts';
import { GRADING, gateLines, LARGEST_EFFECT, recordHeldOut, recordTasks, wordAt } from './record-tasks.ts';

/** Requests as the embedded policy knows them, which it does well sometimes; few words in common, or they were one task. */
const WORK: readonly (readonly [person: string, day: string, field: string, value: string, file: string])[] =
  [
    ['Ada', 'May 4, 2031, 10:00', 'state', 'done', 'orders'],
    ['Bob', 'June 11, 2032, 08:15', 'owner', 'clara', 'bridge'],
    ['Chen', 'March 23, 2030, 17:40', 'colour', 'green', 'garden'],
    ['Dora', 'July 30, 2033, 12:05', 'price', 'high', 'museum'],
    ['Emil', 'August 2, 2031, 06:50', 'level', 'low', 'harbour'],
    ['Fay', 'October 19, 2029, 22:10', 'room', 'north', 'school'],
    ['Gus', 'December 7, 2034, 15:35', 'topic', 'tax', 'letters'],
    ['Hana', 'January 28, 2030, 09:25', 'status', 'open', 'repairs'],
    ['Ivo', 'February 13, 2032, 19:00', 'team', 'blue', 'trip'],
    ['Jun', 'September 5, 2033, 11:45', 'plan', 'late', 'kitchen'],
    ['Kira', 'November 21, 2031, 07:30', 'size', 'small', 'tents'],
    ['Leo', 'April 16, 2029, 20:20', 'title', 'chief', 'staff'],
    ['Mia', 'May 29, 2034, 13:55', 'kind', 'bread', 'bakery'],
    ['Nils', 'June 1, 2030, 16:40', 'mode', 'quiet', 'engine'],
    ['Olga', 'July 8, 2032, 05:15', 'place', 'dock', 'ferry'],
    ['Pia', 'August 24, 2029, 18:05', 'label', 'cold', 'freezer'],
    ['Quin', 'October 3, 2033, 21:50', 'phase', 'second', 'trial'],
    ['Rosa', 'December 15, 2030, 10:35', 'rank', 'gold', 'sports'],
    ['Sven', 'January 9, 2034, 14:10', 'route', 'coast', 'bus'],
    ['Tara', 'February 26, 2031, 23:45', 'type', 'guest', 'hotel'],
    ['Udo', 'March 12, 2033, 04:30', 'part', 'wheel', 'bike'],
    ['Vera', 'April 20, 2030, 08:55', 'style', 'plain', 'poster'],
    ['Walt', 'September 27, 2029, 12:25', 'crop', 'wheat', 'farm'],
    ['Xena', 'November 6, 2032, 17:05', 'door', 'shut', 'tower'],
    ['Yuri', 'May 18, 2029, 09:40', 'song', 'first', 'choir'],
    ['Zoe', 'June 22, 2034, 06:20', 'gate', 'seven', 'airport'],
    ['Amir', 'July 14, 2030, 15:15', 'paint', 'white', 'fence'],
    ['Bela', 'August 31, 2033, 19:50', 'lunch', 'soup', 'menu'],
    ['Cleo', 'October 10, 2031, 13:05', 'shift', 'night', 'clinic'],
    ['Dan', 'December 2, 2032, 07:55', 'shelf', 'upper', 'library'],
  ];
const LINES = WORK.map(([person, day, field, value, file], at) =>
  JSON.stringify({
    prompt: `t0${110 + at}, ${day}, from ${person}. Set ${field} to ${value} in ${file}.json.`,
    domain: 'files',
    check: { kind: 'regex', pattern: `set ${file}\\.json ${field} ${value}` },
  }),
).join('\n');

const GROUP = 8;
const config = {
  models: { practice: 'instar/nano' },
  train: { effect: LARGEST_EFFECT },
  practice: { groupSize: GROUP },
  learn: GRADING,
};

let home: ReturnType<typeof makeHome>;
let daemon: RunningDaemon;
beforeAll(async () => {
  home = makeHome(config);
  daemon = await startDaemon(home.dir);
});
afterAll(async () => {
  daemon.child.kill('SIGTERM');
  await daemon.exited;
  home.remove();
});

const call = async (route: string, body?: JsonObject): Promise<JsonObject> => {
  const headers = { authorization: `Bearer ${daemon.ownerKey}` };
  const answer = await ask(daemon.port, {
    path: route,
    headers,
    ...(body === undefined ? { method: 'GET' } : { body: JSON.stringify(body) }),
  });
  return asObject(parseJson(answer.text));
};
const practice = (what: string, body: JsonObject = {}) => call(`/api/practice/${what}`, body);
const instar = (...words: readonly string[]) => ['--home', home.dir, ...words];

/** What practice reports once this holds for its status. */
async function reportWhen(holds: (status: JsonObject) => boolean): Promise<JsonObject> {
  await vi.waitFor(async () => expect(holds(await practice('status'))).toBe(true), {
    timeout: 500_000,
    interval: 200,
  });
  return practice('report');
}
const isOver = ({ running, problem }: JsonObject): boolean => {
  expect(problem).toBeUndefined();
  return running === undefined;
};

const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);

/** Enough tasks to measure new weights on. */
async function addGateTasks(): Promise<void> {
  const text = await gateLines((nth) => {
    const [person, field, value, file] = [
      wordAt(nth),
      wordAt(nth + 311),
      wordAt(nth + 622),
      wordAt(nth + 933),
    ];
    const day = `${MONTHS[nth % 12]} ${1 + (nth % 28)}, ${2029 + (nth % 9)}, ${10 + (nth % 13)}:${10 + (nth % 47)}`;
    return {
      prompt: `t0${200 + nth}, ${day}, from ${person}. Set ${field} to ${value} in ${file}.json.`,
      domain: 'files',
      check: { kind: 'regex', pattern: `set ${file}\\.json ${field} ${value}` },
    };
  });
  const { added, faults } = await practice('add', { text, file: 'gate.jsonl' });
  expect([Number(added) >= 23, faults]).toEqual([true, []]);
}

/** Of every step of the engine's runs: what it was trained on. */
const trainedSteps = () => {
  const folder = path.join(home.dir, 'train', 'nano');
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(path.join(folder, name), 'utf8').split('\n'))
    .map((line) => asObject(asObject(parseJson(line)).entry))
    .filter(({ type }) => type === 'step-ended')
    .map(({ rollouts }) => asArray(rollouts).map(String));
};

describe('practice with the policy that the daemon trains', () => {
  it('trains nothing while too few tasks could measure the weights; once there are enough, also on the groups that waited', async () => {
    expect(await practice('add', { text: LINES, file: 'files.jsonl' })).toMatchObject({
      added: WORK.length,
      faults: [],
    });
    const { tasks } = await readCuratedTasks(LINES, 'files.jsonl');
    const gate = tasks.filter(({ root }) => splitOf(root) === 'gate').length;
    expect(await practice('run', { kind: 'exploratory' })).toEqual({ started: true });
    const short = await reportWhen(isOver);
    const { kept } = asObject(short.counts);
    expect(kept).toBeGreaterThan(0);
    expect(short).toMatchObject({
      end: 'done',
      counts: { infrastructure: 0 },
      weights: {
        ...{ steps: 0, groups: 0, refused: 0 },
        notes: [expect.stringMatching(new RegExp(`^About \\d+ tasks needed .* ${gate} there: not trained`))],
        verdict: { outcome: 'unchanged', pairs: 0 },
      },
    });
    expect(trainedSteps()).toEqual([]);
    expect((await runCli(instar('practice', 'status'))).stdout).toContain('not trained');

    await addGateTasks();
    expect(await practice('run', { kind: 'exploratory', tasks: 2 })).toEqual({ started: true });
    const report = await reportWhen(isOver);
    expect(report).toMatchObject({ end: 'done', weights: { notes: [] } });
    // Every attempt of the groups that waited once, under the id of its own session.
    const [waited = []] = trainedSteps();
    expect(new Set(waited).size).toBe(Number(kept) * GROUP);
    expect(trainedSteps().flat().every(isAttemptId)).toBe(true);
    const verdict = asObject(asObject(report.weights).verdict);
    expect(verdict.pairs).toBeGreaterThan(0);
    const { versions } = await call('/api/train');
    // Weights serve only after they were shown to be better.
    expect(JSON.stringify(versions).includes('canary')).toBe(verdict.outcome === 'promoted');
    const { stdout } = await runCli(instar('practice', 'status'));
    expect(stdout).toMatch(/\d updates? with \d+ group/);
    expect(stdout).toContain(`version ${verdict.version} ${verdict.outcome}`);
  }, 600_000);

  it('that is stopped while it attempts and killed after its step goes on: nothing is lost, and nothing trains twice', async () => {
    // A new home: weights that were trained on these tasks may do them all.
    daemon.child.kill('SIGTERM');
    await daemon.exited;
    home.remove();
    home = makeHome(config);
    daemon = await startDaemon(home.dir);
    await practice('add', { text: LINES, file: 'files.jsonl' });
    await addGateTasks();
    const before = trainedSteps().length;
    await practice('run', { kind: 'exploratory' });
    await reportWhen(({ running }) => Number(asObject(running).attempts) > 3);
    daemon.child.kill('SIGTERM');
    await daemon.exited;
    expect(trainedSteps()).toHaveLength(before);
    daemon = await startDaemon(home.dir);
    expect(await practice('run')).toEqual({ started: true });
    // By the run's own file: with few tasks the session may be over soon after its step.
    await vi.waitFor(() => expect(trainedSteps()).toHaveLength(before + 1), {
      timeout: 240_000,
      interval: 10,
    });
    daemon.child.kill('SIGKILL');
    await daemon.exited;
    expect(trainedSteps()).toHaveLength(before + 1);
    daemon = await startDaemon(home.dir);
    expect(await practice('run')).toEqual({ started: true });
    const report = await reportWhen(isOver);
    // The engine's end with the daemon is no failed attempt.
    expect(report).toMatchObject({ end: 'done', counts: { infrastructure: 0 }, weights: { steps: 1 } });
    expect(trainedSteps()).toHaveLength(before + 1);
    const all = trainedSteps().flat();
    expect(new Set(all).size).toBe(all.length);
  }, 600_000);

  it('trains nothing while a training window does, and says so; the window is not disturbed', async () => {
    await call('/api/train/rollback', {});
    await recordTasks(daemon.port, daemon.key);
    await recordHeldOut(daemon.port, daemon.key);
    const window = startCli(instar('train', 'run', '--steps', '400'));
    await new Promise<void>((resolve) => {
      window.child.stderr?.on('data', (text: string) => {
        if (/training, \d+ of 400/.test(text)) resolve();
      });
    });
    await practice('run', { kind: 'exploratory', tasks: 2, group: 2 });
    const report = await reportWhen(isOver);
    expect(report).toMatchObject({ end: 'done', weights: { steps: 0, groups: 0 } });
    expect(JSON.stringify(report.weights)).toContain('weights are being trained already');
    expect(await call('/api/train')).toMatchObject({ window: { isRunning: true } });
    window.child.kill('SIGINT');
    await window.ended();
  }, 600_000);
});
