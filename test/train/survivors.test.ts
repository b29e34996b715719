import { describe, expect, it } from 'vitest';
import type { TrainingSample } from '../../src/evidence/training-buffer.ts';
import { findSurvivors } from '../../src/evidence/training-buffer.ts';

const samples: readonly TrainingSample[] = ['a', 'b', 'c', 'd'].map((turn) => ({
  turn,
  session: 's',
  generation: 1,
  reward: 1,
}));

describe('survivors', () => {
  it('are the samples whose prompt would be the same, in their order', async () => {
    const wouldDiffer = async ({ turn }: TrainingSample) => turn === 'b';
    expect(await findSurvivors({ samples, wouldDiffer })).toEqual(['a', 'c', 'd']);
  });

  it('exclude samples whose check rejects or throws', async () => {
    const wouldDiffer = ({ turn }: TrainingSample): Promise<boolean> => {
      if (turn === 'a') throw new Error('at once');
      return turn === 'c' ? Promise.reject(new Error('later')) : Promise.resolve(false);
    };
    expect(await findSurvivors({ samples, wouldDiffer })).toEqual(['b', 'd']);
  });

  it('exclude samples whose check returns no boolean', async () => {
    const wouldDiffer = async () => undefined as unknown as boolean;
    expect(await findSurvivors({ samples, wouldDiffer })).toEqual([]);
  });

  it('are checked one after another (not all at once)', async () => {
    let open = 0;
    let most = 0;
    const wouldDiffer = async (): Promise<boolean> => {
      most = Math.max(most, ++open);
      await Promise.resolve();
      open--;
      return false;
    };
    await findSurvivors({ samples, wouldDiffer });
    expect(most).toBe(1);
  });
});
