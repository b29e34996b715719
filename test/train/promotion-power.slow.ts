import { describe, expect, it } from 'vitest';
import {
  type GateRun,
  type GateWorld,
  runGates,
  type Traffic,
} from '../../lab/measure/gate/simulate-gate.ts';
import { countOf } from '../support/counts.ts';

/* The same simulation as `npm run bench:gate`, with fewer runs: the numbers of lab/results/statistics.md come from there. */
const RUNS = countOf(60, 120);
const FEWER_RUNS = countOf(30, 60);
const WORLD: GateWorld = { effect: 0, tasks: 120, spread: 0 };

const shareOf = (
  { traffic = 'thin', ...world }: Partial<GateWorld> & { readonly traffic?: Traffic },
  is: (run: GateRun) => boolean,
  runs = RUNS,
): number =>
  Array.from({ length: runs }, (_, seed) => runGates({ ...WORLD, ...world }, seed)[traffic]).filter(is)
    .length / runs;
const isLive = ({ end }: GateRun): boolean => end === 'live';
/** Three standard errors above what is promised. */
const allowed = (share: number, runs = RUNS): number => share + 3 * Math.sqrt((share * (1 - share)) / runs);

describe('the gate of weights', () => {
  it.each([0, 0.55])(
    'promotes equal weights in at most 5 percent of trials (effects apart by %d)',
    (spread) => {
      expect(shareOf({ spread }, isLive)).toBeLessThanOrEqual(allowed(0.01));
    },
  );

  it('promotes weights that are 20 points better in most trials on 120 tasks', () => {
    expect(shareOf({ effect: 0.2 }, isLive, FEWER_RUNS)).toBeGreaterThan(0.8);
  });

  it('opens no trial on 40 tasks', () => {
    expect(
      shareOf({ effect: 0.3, tasks: 40 }, ({ end, pairs }) => end === 'not-tried' && pairs === 0, 20),
    ).toBe(1);
  });

  it('does not promote weights that lost 10 points of general questions, however much better they are', () => {
    expect(shareOf({ effect: 0.3, onQuestions: -0.1 }, isLive)).toBeLessThanOrEqual(allowed(0.05));
  });

  it.each(['thin', 'thick'] as const)(
    'lets a canary that is 20 points worse go live in at most 5 percent of runs, with %s traffic',
    (traffic) => {
      expect(shareOf({ effect: -0.2, isCanary: true, traffic }, isLive, FEWER_RUNS)).toBeLessThanOrEqual(
        allowed(0.05, FEWER_RUNS),
      );
    },
  );
});
