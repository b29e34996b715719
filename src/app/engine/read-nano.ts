import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { asNumber, asObject, asString, type JsonObject, parseJson } from '../../core/json.ts';
import type { Template } from '../../core/policy.ts';
import { createNanoTemplate } from '../../nano/policy/nano-template.ts';
import { createTokenizer, type Tokenizer } from '../../nano/policy/tokenizer.ts';
import { readVocabulary } from '../../nano/policy/vocabulary.ts';
import { NANO, type Shape } from '../../nano/shape.ts';
import { ShippedFileError } from './shipped-file-error.ts';

/** The policy that ships with Instar. */
export interface NanoPolicy {
  readonly name: string;
  readonly shape: Shape;
  readonly tokenizer: Tokenizer;
  /** A safetensors file. */
  readonly weights: Uint8Array;
}

/** The path is the same from the built file and from its source. */
const SHIPPED = fileURLToPath(new URL('../../../models/nano', import.meta.url));

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
  return { name, shape, tokenizer: createTokenizer(vocabulary), weights };
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

const isShape = (given: JsonObject): given is JsonObject & Shape =>
  Object.keys(NANO).every((side) => asNumber(given[side]) !== undefined);

/** This module by name, for a thread that needs the policy's template. Run from sources, the built module is named. */
export const NANO_TEMPLATE = new URL(
  import.meta.url.endsWith('.ts') ? '../../../dist/app/engine/read-nano.js' : import.meta.url,
  import.meta.url,
).href;

export const openTemplate = async (): Promise<Template> => createNanoTemplate((await readNano()).tokenizer);
