import { createRandom } from '../../base/random.ts';
import { CONTROL_BETS, evidenceWorse } from '../../stats/confidence-sequence.ts';
import { addToMoments, EMPTY_MOMENTS } from '../../stats/moments.ts';

const ALPHA = 0.05;
const RUNS = 61;
/** More than anyone scores. */
const MOST = 5_000;

const known = new Map<string, number | undefined>();

/**
 * About how many scored sessions show a true difference of `points` of 100 between the sessions with a lesson and those
 * without it, when a share `holdout` of them is held out: the median of simulated measurements with scores of 0 and 1
 * around one half, by the same e-process as the real one. The same on every machine. Undefined when nothing is held out, or
 * when it takes more sessions than anyone scores.
 */
export function sessionsNeeded(points: number, holdout: number): number | undefined {
  const key = `${points} ${holdout}`;
  if (!known.has(key)) known.set(key, simulate(points / 200, holdout));
  return known.get(key);
}

function simulate(half: number, holdout: number): number | undefined {
  if (!(holdout > 0 && holdout < 1)) return undefined;
  const lengths = Array.from({ length: RUNS }, (_, run) => runLength(half, holdout, run)).sort(
    (a, b) => a - b,
  );
  const median = lengths[(RUNS - 1) / 2] ?? MOST;
  if (median >= MOST) return undefined;
  // Two digits: it is an estimate.
  const unit = 10 ** Math.max(0, Math.floor(Math.log10(median)) - 1);
  return Math.round(median / unit) * unit;
}

/** The number of sessions until a simulated measurement has its verdict. */
function runLength(half: number, holdout: number, run: number): number {
  const random = createRandom(`sessions-needed/${run}`);
  const enough = Math.log(2 / ALPHA);
  let shown = EMPTY_MOMENTS;
  let without = EMPTY_MOMENTS;
  for (let sessions = 1; sessions < MOST; sessions++) {
    const isHeldOut = random.next() < holdout;
    const score = random.next() < (isHeldOut ? 0.5 + half : 0.5 - half) ? 1 : 0;
    if (isHeldOut) without = addToMoments(without, score);
    else shown = addToMoments(shown, score);
    if (shown.sum * without.n >= without.sum * shown.n) continue;
    if (evidenceWorse(shown, without, { bets: CONTROL_BETS, enough }) >= enough) return sessions;
  }
  return MOST;
}
