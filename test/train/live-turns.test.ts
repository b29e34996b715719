import { describe, expect, it } from 'vitest';
import type { RewardSource } from '../../src/core/evidence.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import type { TrainingSample } from '../../src/train/buffer.ts';
import { liveQueryOf, readLiveTurns } from '../../src/train/live-turns.ts';
import { end, start } from '../record/store/facts.ts';

interface Turn {
  readonly turn: string;
  readonly generation?: number;
  readonly version?: number;
  readonly temperature?: number;
  readonly source?: RewardSource;
}

/** A record of turns, each of a session of its own, and the samples that they are to learning. */
async function recordTurns(turns: readonly Turn[]) {
  const store = createMemoryStore();
  const records = toRecords(store, () => 0);
  const samples: TrainingSample[] = [];
  for (const { turn, generation = 4, version = 2, temperature = 1, source = 'person' } of turns) {
    const session = `s-${turn}`;
    const facts = [
      start(turn, session, { agent: 'ada', generation }),
      end(turn),
      {
        type: 'turn-sampled',
        turn,
        session,
        version,
        generation,
        temperature,
        tokens: `tokens-${turn}`,
      },
      { type: 'reward-given', turn, source, score: 0.5 },
    ] as const;
    const text = JSON.stringify({ prompt: [1, 2], tokens: [3, 4], logprobs: [-0.5, -0.25] });
    await records.append(
      facts.map((fact) => ({ at: 1, fact })),
      [{ hash: `tokens-${turn}`, text, session }],
    );
    samples.push({ turn, session, generation, reward: 0.75 });
  }
  return { records, samples };
}

const wanted = { generation: 4, versions: [1, 2], trained: new Set<string>(), most: 10 };

describe('live turns', () => {
  it('are read back in the recorded tokens, with their agent and reward', async () => {
    const { records, samples } = await recordTurns([{ turn: 't' }]);
    const stamp = { policy: 2, generation: 4 };
    expect(await readLiveTurns(liveQueryOf(wanted), samples, records)).toEqual([
      {
        agent: 'ada',
        rollout: {
          id: 'live/t',
          task: 'turn/t',
          segments: [
            { kind: 'prompt', ids: [1, 2], ...stamp },
            { kind: 'reply', ids: [3, 4], logprobs: [-0.5, -0.25], ...stamp },
          ],
          reward: 0.75,
          rewardSource: 'person',
        },
      },
    ]);
  });

  it('were rewarded by a person or a verifier, and have the wanted generation, version and temperature', async () => {
    const { records, samples } = await recordTurns([
      { turn: 'judged', source: 'judge' },
      { turn: 'signal', source: 'signal' },
      { turn: 'verified', source: 'verifier' },
      { turn: 'stale', generation: 3 },
      { turn: 'foreign', version: 9 },
      { turn: 'cold', temperature: 0.2 },
      { turn: 'told' },
    ]);
    const read = await readLiveTurns(liveQueryOf(wanted), samples, records);
    expect(read.map(({ rollout }) => [rollout.id, rollout.rewardSource])).toEqual([
      ['live/verified', 'verifier'],
      ['live/told', 'person'],
    ]);
  });

  it('are returned once, oldest first, up to the wanted number', async () => {
    const { records, samples } = await recordTurns(['a', 'b', 'c', 'd'].map((turn) => ({ turn })));
    const trained = new Set(['run-1/0/0/0', 'live/a']);
    const read = await readLiveTurns(liveQueryOf({ ...wanted, trained, most: 2 }), samples, records);
    expect(read.map(({ rollout }) => rollout.id)).toEqual(['live/b', 'live/c']);
  });

  it('never come from an erased session, even before learning knows about it', async () => {
    const { records, samples } = await recordTurns([{ turn: 'a' }, { turn: 'b' }]);
    expect(await records.erase('s-a', 'asked for')).toMatchObject({ turns: 1 });
    const read = await readLiveTurns(liveQueryOf(wanted), samples, records);
    expect(read.map(({ rollout }) => rollout.id)).toEqual(['live/b']);
  });
});
