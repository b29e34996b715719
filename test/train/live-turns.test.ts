import { describe, expect, it } from 'vitest';
import type { RewardSource } from '../../src/core/evidence.ts';
import type { TrainingOutcome } from '../../src/evidence/training-buffer.ts';
import { toRecords } from '../../src/record/records.ts';
import { createMemoryStore } from '../../src/record/store/memory-store.ts';
import { liveQueryOf, readLiveTurns } from '../../train/live-turns.ts';
import { end, start } from '../record/store/facts.ts';

interface Turn {
  readonly turn: string;
  readonly generation?: number;
  readonly version?: number;
  readonly temperature?: number;
  readonly source?: RewardSource;
  readonly reward?: number;
}

/** A record of turns, each of a session of its own, and the samples that they are to learning. */
async function recordTurns(turns: readonly Turn[]) {
  const store = createMemoryStore();
  const records = toRecords(store, () => 0);
  const samples: TrainingOutcome[] = [];
  for (const {
    turn,
    generation = 4,
    version = 2,
    temperature = 1,
    source = 'person',
    reward = 0.75,
  } of turns) {
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
    samples.push({ turn, session, generation, reward, source });
  }
  const outcomes = { advantageOf: (): number => 0.25 };
  return { parts: { records, outcomes }, records, samples };
}

const wanted = { generation: 4, versions: [1, 2], trained: new Set<string>(), most: 10 };

describe('live turns', () => {
  it('are read back in the recorded tokens, with their reward and advantage', async () => {
    const { parts, samples } = await recordTurns([{ turn: 't' }]);
    const stamp = { policy: 2, generation: 4 };
    expect(await readLiveTurns(liveQueryOf(wanted), samples, parts)).toEqual([
      {
        advantage: 0.25,
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

  it('were rewarded by a verifier, a person or a judge, and have the wanted generation, version and temperature', async () => {
    const { parts, samples } = await recordTurns([
      { turn: 'judged', source: 'judge' },
      { turn: 'signal', source: 'signal' },
      { turn: 'verified', source: 'verifier' },
      { turn: 'stale', generation: 3 },
      { turn: 'foreign', version: 9 },
      { turn: 'cold', temperature: 0.2 },
      { turn: 'told' },
      { turn: 'thanked' },
    ]);
    const read = await readLiveTurns(liveQueryOf(wanted), samples, parts);
    expect(read.map(({ rollout }) => [rollout.id, rollout.rewardSource])).toEqual([
      ['live/judged', 'judge'],
      ['live/verified', 'verifier'],
      ['live/told', 'person'],
      ['live/thanked', 'person'],
    ]);
  });

  it('are returned once, oldest first, up to the wanted number', async () => {
    const { parts, samples } = await recordTurns(['a', 'b', 'c', 'd'].map((turn) => ({ turn })));
    const trained = new Set(['run-1/0/0/0', 'live/a']);
    const read = await readLiveTurns(liveQueryOf({ ...wanted, trained, most: 2 }), samples, parts);
    expect(read.map(({ rollout }) => rollout.id)).toEqual(['live/b', 'live/c']);
  });

  it('never come from an erased session, even before learning knows about it', async () => {
    const { parts, records, samples } = await recordTurns([{ turn: 'a' }, { turn: 'b' }]);
    expect(await records.erase('s-a', 'asked for')).toMatchObject({ turns: 1 });
    const read = await readLiveTurns(liveQueryOf(wanted), samples, parts);
    expect(read.map(({ rollout }) => rollout.id)).toEqual(['live/b']);
  });

  it('include failures that fed no lesson, beside successes when a batch is full', async () => {
    const good = ['a', 'b', 'c', 'd'].map((turn) => ({ turn }));
    const bad = ['x', 'y'].map((turn) => ({ turn, reward: 0 }));
    const { parts, samples } = await recordTurns([...good, ...bad]);
    const read = await readLiveTurns(liveQueryOf({ ...wanted, most: 3 }), samples, parts);
    expect(read.map(({ rollout }) => rollout.reward)).toContain(0);
  });

  it('are rewarded by a judge in at most a quarter of a batch (not at all without other turns)', async () => {
    const judged = Array.from({ length: 6 }, (_, at) => ({ turn: `j${at}`, source: 'judge' as const }));
    const sources = async (turns: readonly Turn[]): Promise<readonly string[]> => {
      const { parts, samples } = await recordTurns(turns);
      const read = await readLiveTurns(liveQueryOf(wanted), samples, parts);
      return read.map(({ rollout }) => rollout.rewardSource);
    };
    expect(await sources(judged)).toEqual([]);
    const mixed = await sources([...judged, ...['a', 'b', 'c'].map((turn) => ({ turn }))]);
    expect(mixed.filter((source) => source === 'judge')).toHaveLength(1);
    expect(mixed).toHaveLength(4);
  });
});
