import type { SampleRequest } from './engine.ts';
import type { NamedLora } from './sampling/sampler.ts';
import type { Shape } from './shape.ts';
import type { Trainer } from './training/trainer.ts';

/** The `workerData` of an engine's thread. */
export interface ThreadData {
  readonly role: 'train' | 'sample';
  readonly weights: Uint8Array;
  readonly shape: Shape;
}

/** A call to a thread; `abort` ends the sampling call of that id. */
export type Question =
  | {
      readonly type: 'train';
      readonly id: number;
      readonly call: keyof Trainer;
      readonly operands: readonly unknown[];
    }
  | {
      readonly type: 'sample';
      readonly id: number;
      readonly weights: NamedLora | undefined;
      readonly request: SampleRequest;
    }
  | { readonly type: 'abort'; readonly id: number };

/** `isInvalidCall`: an EngineError. Errors lose their class between threads. */
export type Answer =
  | { readonly type: 'done'; readonly id: number; readonly value: unknown }
  | { readonly type: 'failed'; readonly id: number; readonly why: string; readonly isInvalidCall: boolean };
