import type { Desk } from '../../core/desk.ts';
import { TrainingError } from '../../core/training.ts';
import type { Log } from '../log.ts';
import type { ServedTraining } from './serve-training.ts';

type Asked = Pick<Desk, 'training' | 'startTraining' | 'moveWeights'>;

/** What may be asked about weights, over what the record alone knows of them. */
export function createTrainingDesk(
  training: ServedTraining | undefined,
  recorded: Desk['training'],
  log: Log,
): Asked {
  const here = (): ServedTraining => {
    if (training === undefined)
      throw new TrainingError('user', 'Nothing is trained here: train.engine is off in the config.');
    return training;
  };
  return {
    training: async () => ({ ...(await recorded()), ...(await training?.describe()) }),
    startTraining: async (request) => {
      const { run, describe } = here();
      const news = run(request, new AbortController().signal)[Symbol.asyncIterator]();
      // The first step tells whether it could begin at all; the rest is told by `training`.
      await news.next();
      void drain(news).catch((error: unknown) => log.warn({ err: error }, 'training ended early'));
      return describe();
    },
    moveWeights: (to) => here().move(to),
  };
}

async function drain(news: AsyncIterator<unknown>): Promise<void> {
  while ((await news.next()).done !== true);
}
