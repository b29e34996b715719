import type { Clock } from '../../core/clock.ts';
import type { JsonObject } from '../../core/json.ts';
import type { Records } from '../../core/store.ts';
import { plural } from '../../text/phrases.ts';
import type { WriteFacts } from '../evolve-step.ts';
import type { Practice } from '../practice/serve-practice.ts';
import type { FoundTransfer } from '../transfer/find-transfers.ts';
import type { TransferStep } from '../transfer/transfer-step.ts';
import type { IdentityStep } from './identity-step.ts';
import { REFLECTION_JOB } from './reflection-job.ts';

interface ReflectionOptions {
  readonly identity: IdentityStep;
  readonly transfer: TransferStep;
  readonly records: Pick<Records, 'append' | 'events'>;
  /** Whether nothing may be learned now. */
  readonly isStopped: () => boolean;
  readonly clock: Clock;
}

/** The last reflection over sessions and notes, in words. Plain data. */
export type LastReflection = {
  readonly at: number;
  readonly said: string;
};

export interface Reflection {
  last(): LastReflection | undefined;
  /** The commands of practice, and `reflect` and `transfer` (what would be transferred). */
  withReflection(practice: Practice): Practice;
}

/** Rejects when the record cannot be read. */
export async function openReflection(options: ReflectionOptions): Promise<Reflection> {
  const { identity, transfer, records, isStopped, clock } = options;
  const write: WriteFacts = async (facts) => void (facts.length > 0 && (await records.append(facts)));
  let last = (await records.events(`job/${REFLECTION_JOB}`)).reduce<LastReflection | undefined>(
    (known, { at, fact }) =>
      fact.type === 'job-ended' && fact.end === 'done' ? { at, said: fact.note ?? '' } : known,
    undefined,
  );
  const reflect = async (signal: AbortSignal): Promise<JsonObject> => {
    if (isStopped()) return { said: 'learning is turned off' };
    const isNew = identity.isDue();
    const { agents, proposals } = await identity.reflect(write, () => signal.aborted || isStopped());
    const { trial, proposed } = await transfer.run(signal);
    const said = [
      isNew
        ? `${plural(agents, 'agent')} read, ${plural(proposals, 'change')} of an identity proposed`
        : 'nobody said anything new about an agent',
      ...(trial + proposed === 0
        ? []
        : [
            `${plural(trial + proposed, 'lesson')} for another agent (${trial} on trial, ${proposed} to approve)`,
          ]),
    ].join('; ');
    last = { at: clock.now(), said };
    return { agents, proposals, transferred: trial + proposed, said };
  };
  return {
    last: () => last,
    withReflection: (practice) => ({
      ...practice,
      command: async (request, signal) => {
        if (request.do === 'reflect') return reflect(signal);
        if (request.do === 'transfer') return { transfers: (await transfer.plan()).map(describeTransfer) };
        return practice.command(request, signal);
      },
    }),
  };
}

const describeTransfer = ({ lesson, from, to, effect, tasks, of }: FoundTransfer): JsonObject => ({
  lesson: lesson.id,
  name: lesson.text.name,
  from,
  to,
  effect,
  tasks,
  of,
});
