import type { ServedWeights } from '../../core/policy.ts';
import { type Sampler, TrainingError } from '../../core/training.ts';
import type { PolicyPointer, Served } from '../../train/policy-pointer.ts';

export interface WeightsOptions {
  readonly pointer: () => PolicyPointer;
  /** Undefined: the bare model. */
  readonly openSampler: (path: string | undefined) => Promise<Sampler>;
  /** Who answers when weights cannot, the first first. Nobody unless told. */
  readonly spares?: () => readonly Served[];
  /** Told of weights that answered, and of those that could not where others could: it is then not the engine. */
  readonly probed?: (served: Served, isWell: boolean, why?: unknown) => void;
}

export interface WeightsRoom {
  /**
   * Weights for a turn, open until they are let go of. `version` is that of whoever answered: when these cannot, a spare
   * does. Rejects with a TrainingError when nobody can.
   */
  take(served: Served): Promise<ServedWeights>;
  /** Lets go of weights that serve no more and that no turn holds. */
  sweep(): void;
  close(): Promise<void>;
}

interface Held {
  sampler: Promise<Sampler>;
  turns: number;
}

/** Which weights are open: as long as the pointer names them or a turn that began on them has not ended. */
export function createWeightsRoom(options: WeightsOptions): WeightsRoom {
  const { pointer, openSampler, spares = () => [], probed = () => undefined } = options;
  const held = new Map<string | undefined, Held>();
  const hold = (path: string | undefined): Held => {
    const known = held.get(path);
    if (known !== undefined) return known;
    const opened: Held = { sampler: openSampler(path), turns: 0 };
    held.set(path, opened);
    return opened;
  };
  const leave = (path: string | undefined): void => {
    const left = held.get(path);
    held.delete(path);
    // Whoever opened it heard why it could not be.
    left?.sampler.then((sampler) => sampler.close()).catch(() => undefined);
  };
  const sweep = (): void => {
    const { live, canary } = pointer();
    // The bare model has no path, and is named only where it serves.
    const named = new Set(
      [live, ...(canary === undefined ? [] : [canary.served])].map(({ sampler }) => sampler),
    );
    for (const [path, { turns }] of held) if (turns === 0 && !named.has(path)) leave(path);
  };
  /** An engine that was started again knows no sampler of before: it is opened anew, once. */
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
  const takeOne = async ({ version, sampler: path }: Served): Promise<ServedWeights> => {
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
      const wanted = [served, ...spares().filter(({ sampler }) => sampler !== served.sampler)];
      let taken: ServedWeights | undefined;
      let answering = served;
      let reason: unknown;
      /** The next who can be opened; the first reason is the one that tells what is wrong. */
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
    },
    close: async () => {
      for (const path of [...held.keys()]) leave(path);
    },
  };
}
