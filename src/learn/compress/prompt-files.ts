import { mkdirSync } from 'node:fs';
import { readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import { replaceFileSync } from '../../base/atomic-file.ts';
import { asNumber, asObject, asString, compact, parseJson } from '../../core/json.ts';
import type { PromptCache, PromptKey } from './prompt-cache.ts';

/** Stores each shortened prompt as a file, so that a session gets the same one after a restart. */
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
      // A damaged file counts as missing: the prompt is sent in full and shortened again.
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
      replaceFileSync(fileOf(key), JSON.stringify({ agent: key.agent, ...prompt }));
    },
  };
}

/** Deletes the shortened prompts of an agent: they contain words of its sessions. They are written again when needed. */
export async function forgetPrompts(dir: string, agent: string): Promise<void> {
  const names = await readdir(dir).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  for (const name of names.filter((one) => one.endsWith('.json'))) {
    const file = path.join(dir, name);
    const prompt = asObject(parseJson(await readFile(file, 'utf8')));
    if (asString(prompt.agent) === agent) await rm(file, { force: true });
  }
}
