import type { ServedTraining } from '../../train/serve-training.ts';
import type { Log } from '../base/log.ts';
import { mayTeach } from '../core/caller.ts';
import type { DaemonApi } from '../core/daemon-api.ts';
import type { NewFact, Records } from '../core/store.ts';
import { TrainingError } from '../core/training.ts';

type Asked = Pick<DaemonApi, 'training' | 'startTraining' | 'moveWeights'>;

/** The API's operations on weights, added to what the record alone knows. */
export function createTrainingApi(
  training: ServedTraining | undefined,
  recorded: DaemonApi['training'],
  log: Log,
): Asked {
  const here = (): ServedTraining => {
    if (training === undefined)
      throw new TrainingError('user', 'Training is off: set train.engine in the config.');
    return training;
  };
  return {
    training: async () => ({ ...(await recorded()), ...(await training?.describe()) }),
    startTraining: async (request) => {
      const { run, describe } = here();
      const news = run(request, new AbortController().signal)[Symbol.asyncIterator]();
      // The first event shows that it could start; `training` reports the rest.
      try {
        const { value: first } = await news.next();
        if (first?.type === 'not-trained') {
          await drain(news);
          return { started: false, why: first.why };
        }
      } catch (error) {
        if (error instanceof TrainingError && error.code === 'no-tasks')
          return { started: false, why: error.message };
        throw error;
      }
      void drain(news).catch((error: unknown) => log.warn({ err: error }, 'training ended early'));
      return { started: true, ...(await describe()) };
    },
    moveWeights: (to) => here().move(to),
  };
}

async function drain(news: AsyncIterator<unknown>): Promise<void> {
  while ((await news.next()).done !== true);
}

/** Passes rewards of the policy's own turns on, to compare a canary with the live version. Never rejects. */
export async function scoreCanarySessions(
  facts: readonly NewFact[],
  records: Records,
  training: ServedTraining | undefined,
  log: Log,
): Promise<void> {
  if (training === undefined || training.policy.answered() === 0) return;
  const mark = `instar/${training.policy.name}@`;
  try {
    for (const { fact } of facts) {
      // An agent does not decide which weights serve it, and it could type a word into its own chat.
      if (fact.type !== 'reward-given' || fact.turn === undefined) continue;
      if (fact.source === 'agent' || fact.source === 'chat') continue;
      const turn = await records.turn(fact.turn);
      if (turn?.policy.startsWith(mark) === true && mayTeach(turn.caller))
        await training.heard(turn.session, fact.score);
    }
  } catch (error) {
    log.warn({ err: error }, 'a reward could not be counted for the canary');
  }
}
