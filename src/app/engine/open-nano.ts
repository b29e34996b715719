import { type Engine, EngineError } from '../../nano/engine.ts';
import { openEngineThreads } from '../../nano/open-engine-threads.ts';
import { type NanoPolicy, readNano } from './read-nano.ts';
import { ShippedFileError } from './shipped-file-error.ts';

export interface Nano extends Pick<NanoPolicy, 'name' | 'shape' | 'tokenizer'> {
  /** Its threads start with the first calls. */
  readonly engine: Engine;
  close(): Promise<void>;
}

/** The shipped policy, ready to sample and train. Rejects with a ShippedFileError when its files are not the shipped ones. */
export async function openNano(folder?: string): Promise<Nano> {
  const { name, shape, tokenizer, weights } = await readNano(folder);
  try {
    const engine = openEngineThreads({ name, shape, weights });
    return { name, shape, tokenizer, engine, close: () => engine.close() };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    throw new ShippedFileError(`the weights of ${name} do not fit its shape: ${error.message}`, {
      cause: error,
    });
  }
}
