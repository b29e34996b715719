import { mkdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { replacePrivateFile } from '../../config/private-file.ts';
import { asNumber, asObject, asString, compact, parseJson } from '../../core/json.ts';
import type { PromptCache, PromptKey } from '../../learn/compress/prompt-cache.ts';

/** Shortened prompts as files of a folder, one each: a session that was given one is given the same after a restart. */
export function createPromptFiles(dir: string): PromptCache {
  const fileOf = ({ hash }: PromptKey): string => path.join(dir, `${hash}.json`);
  return {
    get: async (key) => {
      const stored = await readFile(fileOf(key), 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return undefined;
        throw error;
      });
      if (stored === undefined) return undefined;
      const prompt = asObject(parseJson(stored));
      const at = asNumber(prompt.at);
      // A damaged file is as good as none: the prompt goes out whole and is shortened again.
      if (at === undefined || asString(prompt.agent) !== key.agent) return undefined;
      return compact({
        at,
        text: asString(prompt.text),
        why: asString(prompt.why),
        model: asString(prompt.model),
        question: asString(prompt.question),
      });
    },
    put: async (key, prompt) => {
      mkdirSync(dir, { recursive: true, mode: 0o700 });
      replacePrivateFile(fileOf(key), JSON.stringify({ agent: key.agent, ...prompt }));
    },
  };
}
