import { sleep } from '../base/sleep.ts';
import type { AttemptTurns, OpenAttemptAccess } from '../core/attempt-model.ts';
import type { ChatMessage } from '../core/chat.ts';
import type { Clock } from '../core/clock.ts';
import { createFailure, failureKindOf } from '../core/failure.ts';
import { compact } from '../core/json.ts';
import type { DecodedTurn, Records, TurnView } from '../core/store.ts';
import type { AttemptKeys } from '../gateway/access-control.ts';
import { readStoredTurn } from '../record/stored-turn.ts';

interface AttemptAccessParts {
  readonly keys: Pick<AttemptKeys, 'open'>;
  readonly records: Pick<Records, 'turns' | 'block'>;
  readonly clock: Clock;
  /** Where the gateway listens. */
  readonly url: () => string;
}

/** A turn is in the record within moments of its last byte. */
const LOOK_AGAIN_MS = 25;
const PATIENCE_MS = 3000;
/** The clock of the record may be set while an attempt runs. */
const SLACK_MS = 1000;

/** Ways through the gateway for single attempts, and what was said on them, from the record. */
export function createAttemptAccess({ keys, records, clock, url }: AttemptAccessParts): OpenAttemptAccess {
  return ({ id, task, shown }) => {
    const { agent, project, domain } = task;
    const openedAt = clock.now() - SLACK_MS;
    const { key, close } = keys.open(compact({ session: id, shown, agent, project, domain }));
    return {
      url: url(),
      key,
      turns: async () => {
        const turns = (await settledTurns(records, id)).filter(({ startedAt }) => startedAt >= openedAt);
        return describeTurns(turns, records);
      },
      close,
    };
  };
}

/** The turns of a session once all of them have ended, or the patience is over. */
async function settledTurns(records: Pick<Records, 'turns'>, session: string): Promise<readonly TurnView[]> {
  const { signal } = new AbortController();
  let turns: readonly TurnView[] = [];
  for (let waited = 0; waited < PATIENCE_MS; waited += LOOK_AGAIN_MS) {
    turns = await records.turns(session);
    if (turns.length > 0 && turns.every(({ status }) => status !== undefined)) return turns;
    await sleep(LOOK_AGAIN_MS, signal);
  }
  return turns;
}

async function describeTurns(
  turns: readonly TurnView[],
  records: Pick<Records, 'block'>,
): Promise<AttemptTurns> {
  const known = new Map();
  const main = turns.filter(({ role }) => role === 'main');
  const last = main.at(-1) ?? turns.at(-1);
  // A conversation that was compacted begins again: what came before is in the turns before.
  let decoded: DecodedTurn | undefined;
  for (const turn of [...main].reverse()) {
    decoded = await readStoredTurn(turn, records, known);
    if (decoded !== undefined) break;
  }
  const failed = last?.status === 'complete' || last === undefined ? undefined : last;
  return {
    messages: decoded === undefined ? [] : conversationOf(decoded),
    calls: turns.length,
    usage: turns.flatMap(({ usage }) => usage ?? []),
    ...(failed === undefined ? {} : { failure: failureOf(failed) }),
  };
}

function conversationOf({ request, reply }: DecodedTurn): readonly ChatMessage[] {
  return reply.length === 0
    ? request.messages
    : [...request.messages, { role: 'assistant', content: [...reply] }];
}

const failureOf = ({ httpStatus = 502, failure, status }: TurnView) =>
  createFailure(failureKindOf(httpStatus), failure ?? status ?? 'the turn did not end');
