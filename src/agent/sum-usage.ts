import type { Usage } from '../core/chat.ts';
import { compact } from '../core/json.ts';

/** The sum of all counts. A count that no turn has stays absent, except for input and output tokens. */
export function sumUsage(turns: readonly { readonly usage?: Usage }[]): Usage {
  const given = turns.flatMap(({ usage }) => usage ?? []);
  const sum = (name: keyof Usage): number | undefined => {
    const counts = given.flatMap((usage) => usage[name] ?? []);
    return counts.length === 0 ? undefined : counts.reduce((total, count) => total + count, 0);
  };
  return compact({
    inputTokens: sum('inputTokens') ?? 0,
    outputTokens: sum('outputTokens') ?? 0,
    cacheReadTokens: sum('cacheReadTokens'),
    cacheWriteTokens: sum('cacheWriteTokens'),
    reasoningTokens: sum('reasoningTokens'),
  });
}
