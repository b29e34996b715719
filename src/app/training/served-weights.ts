import type { TurnMark } from '../../core/chat.ts';
import type { ServedWeights } from '../../core/policy.ts';
import { type Sampler, TrainingError } from '../../core/training.ts';
import { type PolicyPointer, servedBy } from '../../train/policy-pointer.ts';

export interface WeightsOptions {
  readonly pointer: () => PolicyPointer;
  /** Undefined: the bare model. */
  readonly openSampler: (path: string | undefined) => Promise<Sampler>;
}

export interface WeightsRoom {
  /** The weights for a turn: those that the pointer names now, until they are let go of. */
  take(turn: TurnMark | undefined): Promise<ServedWeights>;
  /** Lets go of weights that serve no more and that no turn holds. */
  sweep(): void;
  close(): Promise<void>;
}

interface Held {
  sampler: Promise<Sampler>;
  turns: number;
}

/** Which weights are open: as long as the pointer names them or a turn that began on them has not ended. */
export function createWeightsRoom({ pointer, openSampler }: WeightsOptions): WeightsRoom {
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
    const named = new Set([live.sampler, canary?.served.sampler]);
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

  return {
    sweep,
    take: async (turn) => {
      const { version, sampler: path } = servedBy(pointer(), turn?.session ?? '');
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
    },
    close: async () => {
      for (const path of [...held.keys()]) leave(path);
    },
  };
}
