import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { PACKAGE_ROOT } from '../../src/base/package.ts';
import { workerModule } from '../../src/base/worker-thread.ts';
import { asNumber, asObject, asString, type JsonObject, parseJson } from '../../src/core/json.ts';
import type { PolicyTemplate } from '../../src/core/training.ts';
import { type Engine, EngineError } from './engine.ts';
import { type ModelShape, NANO_SHAPE } from './model/decoder-weights.ts';
import { createNanoTemplate } from './policy/nano-template.ts';
import { createNanoTokenizer, type NanoTokenizer } from './policy/tokenizer.ts';
import { readVocabulary } from './policy/vocabulary.ts';
import { openThreadedEngine } from './threaded-engine.ts';

/** A file that ships with Instar is missing or was changed. The message names it and the fix. */
export class ShippedFileError extends Error {
  override readonly name = 'ShippedFileError';
  readonly what: string;
  readonly fix = 'install Instar again';

  constructor(what: string, options?: ErrorOptions) {
    super(`${what}; install Instar again`, options);
    this.what = what;
  }
}

/** The policy that ships with Instar. */
interface NanoPolicy {
  readonly name: string;
  readonly shape: ModelShape;
  readonly tokenizer: NanoTokenizer;
  /** A safetensors file. */
  readonly weights: Uint8Array;
}

/** The path is the same from the built file and from its source. */
const SHIPPED = fileURLToPath(new URL('models/nano', PACKAGE_ROOT));

/** Questions and tasks without rules in this policy's language: what new weights must not forget. */
export const NANO_QUESTIONS = path.join(SHIPPED, 'regression.jsonl');

/** Rejects with a ShippedFileError that names the missing or changed file. */
export async function readNano(folder: string = SHIPPED): Promise<NanoPolicy> {
  const configFile = path.join(folder, 'config.json');
  const config = asObject(parseJson((await read(configFile)).toString('utf8')));
  const name = asString(config.name);
  const shape = asObject(config.shape);
  if (name === undefined || !isShape(shape))
    throw new ShippedFileError(`${configFile} does not describe a policy`);

  const hashes = asObject(config.sha256);
  const readChecked = async (file: string): Promise<Buffer> => {
    const full = path.join(folder, file);
    const bytes = await read(full);
    if (createHash('sha256').update(bytes).digest('hex') !== hashes[file])
      throw new ShippedFileError(`${full} is not the file that was shipped (its SHA-256 differs)`);
    return bytes;
  };
  const [weights, pieces] = await Promise.all([
    readChecked('weights.safetensors'),
    readChecked('tokenizer.json'),
  ]);
  const vocabulary = readVocabulary(pieces.toString('utf8'));
  if (vocabulary?.size !== shape.vocabulary)
    throw new ShippedFileError(`${path.join(folder, 'tokenizer.json')} does not fit the policy's shape`);
  return { name, shape, tokenizer: createNanoTokenizer(vocabulary), weights };
}

async function read(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException;
    throw new ShippedFileError(
      code === 'ENOENT' ? `${file} is missing` : `${file} cannot be read (${code})`,
      {
        cause: error,
      },
    );
  }
}

const isShape = (given: JsonObject): given is JsonObject & ModelShape =>
  Object.keys(NANO_SHAPE).every((side) => asNumber(given[side]) !== undefined);

/** This module by name, for a thread that needs the policy's template. Run from sources, the built module is named. */
export const NANO_TEMPLATE = workerModule('./shipped-policy.ts', import.meta.url).href;

export const openTemplate = async (): Promise<PolicyTemplate> =>
  createNanoTemplate((await readNano()).tokenizer);

interface Nano extends Pick<NanoPolicy, 'name' | 'shape' | 'tokenizer'> {
  /** Its threads start with the first calls. */
  readonly engine: Engine;
  close(): Promise<void>;
}

/** The shipped policy, ready to sample and train. Rejects with a ShippedFileError when its files are not the shipped ones. */
export async function openNano(folder?: string): Promise<Nano> {
  const { name, shape, tokenizer, weights } = await readNano(folder);
  try {
    const engine = openThreadedEngine({ name, shape, weights });
    return { name, shape, tokenizer, engine, close: () => engine.close() };
  } catch (error) {
    if (!(error instanceof EngineError)) throw error;
    throw new ShippedFileError(`the weights of ${name} do not fit its shape: ${error.message}`, {
      cause: error,
    });
  }
}
