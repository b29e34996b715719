import { type Sampler, type ServedWeights, TrainingError } from '../src/core/training.ts';
import type { PolicyPointer } from './promotion.ts';
import type { PolicyVersion } from './promotion-stages.ts';

interface WeightsOptions {
  readonly pointer: () => PolicyPointer;
  /** Undefined: the base model. */
  readonly openSampler: (path: string | undefined) => Promise<Sampler>;
  /** Fallback versions in order, for weights that cannot answer; none by default. */
  readonly spares?: () => readonly PolicyVersion[];
  /** Called for weights that answered, and for weights that failed while a fallback answered: then it is not the engine. */
  readonly probed?: (served: PolicyVersion, isWell: boolean, why?: unknown) => void;
}

export interface OpenWeights {
  /**
   * Weights for a turn, open until released. `version` is the one that answered: a fallback's when these weights cannot.
   * Rejects with a TrainingError when none can.
   */
  take(served: PolicyVersion): Promise<ServedWeights>;
  /** Closes weights that no longer serve and that no turn holds. */
  sweep(): void;
  close(): Promise<void>;
}

interface Held {
  sampler: Promise<Sampler>;
  turns: number;
}

/** Keeps weights open while the pointer names them or a turn that started on them runs. */
export function createOpenWeights(options: WeightsOptions): OpenWeights {
  const { pointer, openSampler, spares = () => [], probed = () => undefined } = options;
  const held = new Map<string | undefined, Held>();
  const hold = (path: string | undefined): Held => {
    const before = held.get(path);
    if (before !== undefined) return before;
    const opened: Held = { sampler: openSampler(path), turns: 0 };
    held.set(path, opened);
    return opened;
  };
  const leave = (path: string | undefined): void => {
    const left = held.get(path);
    held.delete(path);
    // The failure to open was reported to the opener.
    left?.sampler.then((sampler) => sampler.close()).catch(() => undefined);
  };
  const sweep = (): void => {
    const { live, canary } = pointer();
    // The base model has no path, and is kept only while it serves.
    const named = new Set(
      [live, ...(canary === undefined ? [] : [canary.served])].map(({ sampler }) => sampler),
    );
    for (const [path, { turns }] of held) if (turns === 0 && !named.has(path)) leave(path);
  };
  /** A restarted engine has lost its samplers: each is opened again, once. */
  const lasting = (path: string | undefined, one: Held): Sampler => ({
    sample: async (request, signal) => {
      const asked = one.sampler;
      try {
        return await (await asked).sample(request, signal);
      } catch (error) {
        if (signal.aborted || !(error instanceof TrainingError)) throw error;
        if (one.sampler === asked) one.sampler = openSampler(path);
        return (await one.sampler).sample(request, signal);
      }
    },
    close: async () => undefined,
  });
  const takeOne = async ({ version, sampler: path }: PolicyVersion): Promise<ServedWeights> => {
    const one = hold(path);
    one.turns++;
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      one.turns--;
      sweep();
    };
    try {
      await one.sampler;
    } catch (error) {
      release();
      if (held.get(path) === one && one.turns === 0) held.delete(path);
      throw error;
    }
    return { version, sampler: lasting(path, one), release };
  };

  return {
    sweep,
    take: async (served) => {
      const others = spares().filter(({ sampler }) => sampler !== served.sampler);
      return takeFirst([served, ...others], takeOne, probed);
    },
    close: async () => {
      for (const path of [...held.keys()]) leave(path);
    },
  };
}

/** The first of these weights that can be opened, and the next one where they fail: the first failure is the one reported. */
async function takeFirst(
  [served, ...spares]: readonly [PolicyVersion, ...PolicyVersion[]],
  takeOne: (version: PolicyVersion) => Promise<ServedWeights>,
  probed: NonNullable<WeightsOptions['probed']>,
): Promise<ServedWeights> {
  const wanted = [served, ...spares];
  let taken: ServedWeights | undefined;
  let answering = served;
  let reason: unknown;
  const takeNext = async (): Promise<ServedWeights> => {
    taken?.release();
    taken = undefined;
    for (let next = wanted.shift(); next !== undefined; next = wanted.shift()) {
      try {
        answering = next;
        taken = await takeOne(next);
        return taken;
      } catch (error) {
        if (!(error instanceof TrainingError)) throw error;
        reason ??= error;
      }
    }
    throw reason;
  };
  await takeNext();
  return {
    get version() {
      return answering.version;
    },
    sampler: {
      sample: async (request, signal) => {
        for (;;) {
          try {
            const sequences = await (taken ?? (await takeNext())).sampler.sample(request, signal);
            if (answering !== served) probed(served, false, reason);
            probed(answering, true);
            return sequences;
          } catch (error) {
            if (signal.aborted || !(error instanceof TrainingError)) throw error;
            reason ??= error;
            await takeNext();
          }
        }
      },
      close: async () => undefined,
    },
    release: () => taken?.release(),
  };
}
