import type { Night, NightSoFar } from '../../bench/run/bed.ts';
import type { TrainNews } from '../training/train-weights.ts';

/** A night in progress. */
export interface OpenNight {
  readonly night: Omit<Night, 'serving' | 'ms'>;
  /** Batches that have ended, however they ended. */
  readonly closed: ReadonlySet<string>;
  /** Why the weights may be promoted, once they may. */
  readonly measured?: string;
}

export const NO_NIGHT: OpenNight = { night: { steps: 0, pairs: 0, moves: [] }, closed: new Set() };

/** Adds one event of the training. */
export function foldNight(open: OpenNight, news: TrainNews): OpenNight {
  const { night, closed } = open;
  const move = (words: string): OpenNight['night'] => ({ ...night, moves: [...night.moves, words] });
  const close = (batch: string): ReadonlySet<string> => new Set(closed).add(batch);
  switch (news.type) {
    case 'step-trained':
    case 'step-idle': {
      const { seen } = news.report;
      const how = seen && { reward: seen.reward, completion: seen.completion ?? 0 };
      const steps = night.steps + Number(news.type === 'step-trained');
      const attempts = how === undefined ? {} : { first: night.first ?? how, last: how };
      return { ...open, night: { ...night, steps, ...attempts }, closed: close(news.batch) };
    }
    case 'step-refused':
      return { ...open, closed: close(news.batch) };
    case 'rolled-back':
      return {
        ...open,
        night: move(`rewards fell: rolled back to version ${news.to.version}`),
        closed: close(news.batch),
      };
    case 'stuck':
      return { ...open, night: move(`stuck: ${news.why}`) };
    case 'pair-weighed': {
      const { pairs } = news;
      const means = { candidate: news.candidate / pairs, live: news.live / pairs };
      return { ...open, night: { ...night, pairs, ...means } };
    }
    case 'moved': {
      const { version, to, why } = news.moved;
      // Every night with training proposes a candidate: not worth reporting.
      if (to === 'candidate') return open;
      // A benchmark has no canary sessions: the measurement is the reason for serving.
      if (to === 'canary') return { ...open, measured: why };
      return { ...open, night: move(`version ${version} ${to}: ${open.measured ?? why}`) };
    }
    default:
      return open;
  }
}

export const soFar = ({ night, closed }: OpenNight, steps: number): NightSoFar => ({
  step: closed.size,
  steps,
  pairs: night.pairs,
});
