import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { openFileJournal } from '../../train/run-files.ts';
import { bedsOfEach, lesson, runWindow, teach } from './training-environment.ts';

const { folder, open } = bedsOfEach();

describe('a generation that changes in the middle of a run', () => {
  it('refuses the batch that spans it: nothing of another generation is trained on, and the next batch is', async () => {
    // More groups than are attempted at once: some of a batch come before the change, some after it.
    const environment = await open({
      dir: folder(),
      override: { tuning: { seed: 1, mostPairs: 1, size: { groups: 6 } } },
    });
    await teach(environment);
    const before = environment.daemon.generation();
    const news = await runWindow(
      environment.training,
      { steps: 3 },
      {
        onNews: async (news) => {
          if (news.type !== 'group-collected' || news.batch !== 'run-1/1' || news.slot !== 1) return;
          await environment.lessonsApi.change(lesson('another', 'Please keep every line short.'));
        },
      },
    );
    expect(environment.daemon.generation()).toBe(before + 1);
    const refused = news.flatMap((one) => (one.type === 'step-refused' ? [one] : []));
    expect(refused).toMatchObject([{ batch: 'run-1/1', refusal: { refused: 'other-generation' } }]);
    const journal = openFileJournal(path.join(environment.dir, 'train', 'nano', 'run-1.jsonl'));
    const { entries } = await journal.read();
    journal.close();
    const trained = entries.flatMap((entry) => (entry.type === 'step-ended' ? entry.rollouts : []));
    expect(trained.length).toBeGreaterThan(0);
    expect(trained.filter((id) => id.startsWith('run-1/1/'))).toEqual([]);
    expect(news.filter(({ type }) => type === 'step-trained' || type === 'step-idle')).toHaveLength(2);
  });
});

describe('an engine that cannot start', () => {
  it('leaves the gateway answering: other models get the welcome reply, and training reports the reason', async () => {
    const dir = folder();
    // Where its folder should be is a file.
    writeFileSync(path.join(dir, 'engine'), 'in the way');
    const environment = await open({ dir });
    const answers = [];
    for (const _ of [1, 2]) answers.push(await environment.chat('hello', { model: 'gpt-5.2' }));
    for (const { status, text, headers } of answers) {
      expect(status, text).toBe(200);
      expect(text).toContain('Instar');
      expect(headers['x-instar-policy']).toBe('instar/welcome');
    }
    await expect(environment.api.startTraining({ steps: 1 })).rejects.toThrow(
      'the embedded engine does not start',
    );
    expect((await environment.api.training()).window).toMatchObject({ isRunning: false });
  });
});
