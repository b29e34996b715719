import type { AttemptModel } from '../../core/attempt-model.ts';
import type { Spending } from '../../core/budget.ts';
import { PRACTICE } from '../../core/caller.ts';
import type { Usage } from '../../core/chat.ts';
import type { CallerIdentity } from '../../core/gateway-client.ts';
import { compact } from '../../core/json.ts';
import type { AttemptOrder } from '../../core/practice.ts';

/** Who speaks in an attempt: a session of its own. */
export const speakerOf = ({ id, task }: AttemptOrder, isLast: boolean): CallerIdentity =>
  compact({
    session: id,
    agent: task.agent ?? 'instar-agent',
    runKind: PRACTICE,
    domain: task.domain,
    project: task.project,
    isLast,
  });

/** Who made the attempt: a fallback may have answered, and is then named. */
export const makerOf = (
  { name }: Pick<AttemptModel, 'name'>,
  replies: readonly { readonly policy?: string }[],
): string => [...new Set(replies.flatMap(({ policy }) => policy ?? []))].join(' + ') || name;

/** What replies cost. A call whose tokens nobody counted costs its call. */
export function attemptSpending(
  { costOf }: Pick<AttemptModel, 'costOf'>,
  calls: number,
  replies: readonly { readonly usage?: Usage }[],
): Partial<Spending> {
  let tokens = 0;
  let usd = 0;
  let unpriced = 0;
  for (const { usage } of replies) {
    if (usage === undefined) continue;
    const count = usage.inputTokens + usage.outputTokens;
    const cost = costOf?.(usage) ?? { usd: 0, unpriced: count };
    tokens += count;
    usd += cost.usd;
    unpriced += cost.unpriced;
  }
  return { calls, tokens, usd, unpriced };
}
