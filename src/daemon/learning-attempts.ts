import { createRemoteAccess } from '../api/shared-access.ts';
import type { Log } from '../base/log.ts';
import type { ThreadConnection } from '../base/worker-thread.ts';
import type { Clock } from '../core/clock.ts';
import type { ThreadJobs } from '../jobs/thread-jobs.ts';
import { chatOfRole } from '../learn/asked-models.ts';
import type { LearningPorts, LearningSettings } from '../learn/learning-ports.ts';
import type { ServingSide } from './learning-messages.ts';
import { sendPracticeCalls } from './practice-training-messages.ts';

interface LearningAttemptsOptions {
  readonly serving: Pick<ThreadConnection<ServingSide>, 'call' | 'post'>;
  readonly settings: LearningSettings;
  readonly chat: LearningPorts['chat'];
  readonly hasSecret: LearningPorts['hasSecret'];
  /** Work that processes of the same record share; undefined in a process of its own. */
  readonly jobs: ThreadJobs | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

interface LearningAttempts extends Required<Pick<LearningPorts, 'openSandbox'>> {
  readonly practice: NonNullable<LearningPorts['practice']>;
  /** Makes the attempts that other processes ask for. */
  take(): void;
}

/** The attempts of the learning thread at tasks. Their code is loaded when the first attempt or slow check is due. */
export function openLearningAttempts(options: LearningAttemptsOptions): LearningAttempts {
  const { serving, settings, chat, hasSecret, jobs, clock, log } = options;
  const open = async () => {
    const { createSessionAttempts } = await import('./practice-attempts.ts');
    return createSessionAttempts({
      agents: [settings.practice?.agent ?? 'model'].flat(),
      settingsOf: (program) => serving.call('programSettings', [program]),
      access: createRemoteAccess({
        open: (order) => serving.call('openAttempt', [order]),
        turns: (id) => serving.call('attemptTurns', [id]),
        close: (id) => serving.post({ type: 'attempt-over', id }),
      }),
      clock,
      hasSecret,
      training: sendPracticeCalls((call) => serving.call('training', [call])),
      onFault: (error) => log.warn({ err: error }, 'practice: something could not be removed'),
      ...(jobs === undefined ? {} : { share: jobs.share }),
    });
  };
  let opened: ReturnType<typeof open> | undefined;
  const attempts = (): ReturnType<typeof open> => {
    opened ??= open();
    return opened;
  };
  return {
    practice: {
      lessonsFor: (query, force) => serving.call('lessonsFor', [query, force]),
      whyNotAttempted: async (task) => (await attempts()).whyNotAttempted(task),
      openAttempts: async (...order) => (await attempts()).openAttempts(...order),
    },
    openSandbox: async (...order) => (await attempts()).openSandbox(...order),
    take: () =>
      jobs?.takeAttempts({
        model: async () => {
          const model = await serving.call('model', ['attempt']);
          if (model === undefined) return undefined;
          const { attemptOnce } = await attempts();
          return { name: model.name, make: attemptOnce({ ...model, chat: chatOfRole('attempt', chat) }) };
        },
        whyNot: async ({ task }) => (await attempts()).whyNotAttempted(task),
      }),
  };
}
