import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startTinkerServer } from '../../train/nano/server/start-tinker-server.ts';
import { SMALL, smallWeights } from '../train/nano/engine/small-model.ts';
import { MODELS } from '../train/policy/models.ts';
import { createEngine } from './one-thread-engine.ts';

const FOREIGN_KEY = 'tml-foreign-key-of-thirty-two-letters';
const NAME = 'acme/small-1';

export interface ForeignEngine {
  /** For `train.engine`; the key is in the variable `FOREIGN_KEY`. */
  readonly entry: {
    readonly tinker: string;
    readonly baseModel: string;
    readonly tokenizer: string;
    readonly keyEnv: string;
  };
  readonly env: { readonly FOREIGN_KEY: string };
  close(): Promise<void>;
}

/**
 * A Tinker server that is not Instar's own: a small model with random weights, a tokenizer and a chat template of the Qwen family, and
 * replies of at most `longest` tokens.
 */
export async function startForeignEngine(longest = 16): Promise<ForeignEngine> {
  const folder = mkdtempSync(path.join(tmpdir(), 'instar-foreign-'));
  const tokenizer = path.join(folder, 'tokenizer');
  cpSync(path.join(MODELS, 'qwen'), tokenizer, { recursive: true });
  const generation = { eos_token_id: [422, 420], max_new_tokens: longest };
  writeFileSync(path.join(tokenizer, 'generation_config.json'), JSON.stringify(generation));
  // More rows than the tokenizer has tokens, as models have them.
  const shape = { ...SMALL, vocabulary: 432, contextLength: 16_384 };
  const server = await startTinkerServer({
    engine: createEngine({ weights: smallWeights(shape), shape, name: NAME }),
    folder: path.join(folder, 'server'),
    port: 0,
    key: FOREIGN_KEY,
  });
  return {
    entry: { tinker: server.url, baseModel: NAME, tokenizer, keyEnv: 'FOREIGN_KEY' },
    env: { FOREIGN_KEY },
    close: async () => {
      await server.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
