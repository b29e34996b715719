import { readdirSync, statSync, truncateSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { workdaysTasks } from '../../lab/suites/workdays/task-source.ts';
import type { TrainingEvent } from '../../train/training-window.ts';
import {
  bedsOfEach,
  FEW_WORKDAYS,
  runWindow,
  TASK,
  type TrainingEnvironment,
  teach,
} from './training-environment.ts';

const { folder, open, reopen } = bedsOfEach();

/** Cuts the weights of the last step short; answers with the file's name. */
function damage({ dir }: TrainingEnvironment, kind: 'sampler_weights' | 'weights'): string {
  const checkpoints = path.join(dir, 'engine', 'checkpoints');
  const [last] = readdirSync(checkpoints, { recursive: true, withFileTypes: true })
    .filter(({ name, parentPath }) => name.endsWith('.bin') && path.basename(parentPath) === kind)
    .map(({ name, parentPath }) => path.join(parentPath, name))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  if (last === undefined) throw new Error('there are no weights to damage');
  truncateSync(last, statSync(last).size >> 1);
  return last;
}
const typesOf = (news: readonly TrainingEvent[]): readonly string[] => news.map(({ type }) => type);
const MORE = { tasks: workdaysTasks({ ...FEW_WORKDAYS, heldOut: { ...FEW_WORKDAYS.heldOut, count: 4 } }) };

describe('weights whose file is damaged', () => {
  it('that serve are replaced at once, named in the log, and rolled back: no turn fails', async () => {
    const first = await open({ dir: folder() });
    await teach(first);
    await runWindow(first.training, { steps: 1 });
    for (const to of ['canary', 'live'])
      expect(await first.api.moveWeights('promote')).toMatchObject([{ version: 1, to }]);
    const file = damage(first, 'sampler_weights');
    const environment = await reopen(first);
    for (const turn of [1, 2, 3]) {
      const { status, text } = await environment.chat(TASK, { session: `after ${turn}` });
      expect(status, text).toBe(200);
      expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true);
    }
    await expect
      .poll(async () => (await environment.api.training()).versions, { timeout: 15_000 })
      .toEqual({ live: 0 });
    expect((await environment.chat(TASK)).headers['x-instar-policy']).toBe('instar/nano@0');
    expect(JSON.stringify(environment.lines)).toContain(path.basename(file));
    expect((await (await reopen(environment)).api.training()).versions).toEqual({ live: 0 });
  });

  it('that are on trial are refused by name, and the pointer does not move', async () => {
    const first = await open({ dir: folder() });
    await teach(first);
    await runWindow(first.training, { steps: 1 });
    const file = damage(first, 'sampler_weights');
    const environment = await reopen(first);
    const news = await runWindow(environment.training, { steps: 1, ...MORE });
    const unfit = news.flatMap((one) => (one.type === 'weights-unfit' ? [one.why] : []));
    expect(unfit).toHaveLength(2);
    for (const why of unfit) expect(why).toContain(path.basename(file));
    expect(news.flatMap((one) => (one.type === 'moved' ? [one.moved] : []))[0]).toMatchObject({
      version: 1,
      to: 'rejected',
      by: 'probe',
    });
    expect((await environment.api.training()).versions).toMatchObject({ live: 0 });
    expect((await environment.chat(TASK)).status).toBe(200);
  });

  it('that training would continue from are named, and after three windows another run starts', async () => {
    const first = await open({ dir: folder() });
    await teach(first);
    await runWindow(first.training, { steps: 1 });
    await first.api.moveWeights('rollback');
    const file = damage(first, 'weights');
    const environment = await reopen(first);
    for (let window = 0; window < 3; window++) {
      const news = await runWindow(environment.training, { steps: 1 });
      const stuck = news.flatMap((one) => (one.type === 'stuck' ? [one.why] : []));
      expect(stuck.join()).toContain(path.basename(file));
      await environment.api.moveWeights('rollback');
    }
    const news = await runWindow(environment.training, { steps: 1 });
    expect(typesOf(news)).not.toContain('stuck');
    expect(news.flatMap((one) => ('batch' in one ? [one.batch] : []))).toContain('run-2/0');
    expect((await environment.api.training()).versions).toMatchObject({ live: 0 });
  });
});
