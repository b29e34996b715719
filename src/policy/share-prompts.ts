import type { SampledSequence, Sampler, SamplerRequest } from '../core/training.ts';

interface Waiting {
  readonly request: SamplerRequest;
  readonly signal: AbortSignal;
  readonly resolve: (sequences: readonly SampledSequence[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Attempts at one task start with the same prompt at the same time: requests of one tick that differ only in their seed are
 * sent as one, so that the engine reads the prompt once. The first request's seed is used for all.
 */
export function sharePrompts(sampler: Sampler): Sampler {
  let waiting: Waiting[] = [];
  const flush = (): void => {
    const groups = new Map<string, Waiting[]>();
    for (const one of waiting) {
      const key = keyOf(one.request);
      groups.set(key, [...(groups.get(key) ?? []), one]);
    }
    waiting = [];
    for (const group of groups.values()) void draw(sampler, group);
  };
  return {
    sample: (request, signal) =>
      new Promise((resolve, reject) => {
        waiting.push({ request, signal, resolve, reject });
        // After all microtasks of this tick: requests made together have then all arrived.
        if (waiting.length === 1) setImmediate(flush);
      }),
    close: () => sampler.close(),
  };
}

async function draw(sampler: Sampler, group: readonly Waiting[]): Promise<void> {
  const [first] = group;
  if (first === undefined) return;
  const count = group.reduce((sum, { request }) => sum + request.count, 0);
  // Aborts only when all of its requests are aborted.
  const leaving = new AbortController();
  const leaveIfAll = (): void => {
    if (group.every(({ signal }) => signal.aborted)) leaving.abort();
  };
  for (const { signal } of group) signal.addEventListener('abort', leaveIfAll, { once: true });
  leaveIfAll();
  try {
    const sequences = await sampler.sample({ ...first.request, count }, leaving.signal);
    let from = 0;
    for (const { request, resolve } of group) {
      resolve(sequences.slice(from, from + request.count));
      from += request.count;
    }
  } catch (error) {
    for (const { reject } of group) reject(error);
  } finally {
    for (const { signal } of group) signal.removeEventListener('abort', leaveIfAll);
  }
}

const keyOf = ({ seed: _, count: __, ...request }: SamplerRequest): string => JSON.stringify(request);
