import { setImmediate } from 'node:timers/promises';
import type { Ask } from '../../core/learn.ts';
import { createRecent } from '../../core/recent.ts';
import { readDemands } from './demands.ts';
import { CHARACTERS_PER_TOKEN } from './estimate-tokens.ts';
import type { PromptCache, PromptKey, ShortenedPrompt } from './prompt-cache.ts';
import { type AgentPrompt, promptKey } from './prompt-key.ts';
import { createWaste } from './waste.ts';
import { writeQuestion } from './write-question.ts';

export interface CompressorOptions {
  readonly ask: Ask;
  readonly cache: PromptCache;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly newId: (prefix: string) => string;
  /** Prompts with a secret in them are neither sent to another model nor kept. */
  readonly hasSecret: (text: string) => boolean;
  /** Only prompts over this many tokens are shortened. */
  readonly overTokens: number;
  /** What they are shortened to. */
  readonly limitTokens?: number;
  readonly journal?: (note: string) => void;
}

export interface SessionPrompt extends AgentPrompt {
  /** When the session began, in milliseconds since the epoch: the same for each of its turns. */
  readonly startedAt: number;
}

export interface Compressor {
  /**
   * What the session may be given in the prompt's place; undefined: the prompt itself. Never rejects and never waits for
   * a model: an unknown prompt goes out as it is and is shortened for the sessions after it. A session that began
   * before there was a shorter prompt never gets it, so that what the provider has cached stays good.
   */
  find(prompt: SessionPrompt): Promise<string | undefined>;
  /** When nothing is being shortened. */
  settled(): Promise<void>;
  /** Gives up what is being shortened. */
  close(): Promise<void>;
}

/** In characters: reading one takes the thread that serves requests a tenth of a second. */
const LONGEST = 150_000;
const MOST_KNOWN = 200;
const MOST_KEYS = 32;
const MOST_WAITING = 16;
/** A model that was not there is not asked again for so long. */
const PAUSE_MS = 5 * 60_000;

export function createCompressor(options: CompressorOptions): Compressor {
  const { ask, cache, now, newId, hasSecret, limitTokens = 2000, journal = () => undefined } = options;
  const shortest = Math.max(options.overTokens, limitTokens) * CHARACTERS_PER_TOKEN;
  const known = createRecent<string, ShortenedPrompt>(MOST_KNOWN);
  const keys = createRecent<string, PromptKey>(MOST_KEYS);
  const waste = createWaste();
  const waiting = new Set<string>();
  const leaving = new AbortController();
  let work: Promise<void> = Promise.resolve();
  let pausedUntil = Number.NEGATIVE_INFINITY;

  /** A session brings the same prompt with each turn, and hashing one costs more than finding it. */
  const keyOf = (prompt: SessionPrompt): PromptKey => {
    const whole = `${JSON.stringify([prompt.agent, prompt.tools])}\n${prompt.text}`;
    const key = keys.get(whole) ?? promptKey(prompt, limitTokens);
    keys.set(whole, key);
    return key;
  };

  const keep = async (key: PromptKey, prompt: ShortenedPrompt): Promise<void> => {
    known.set(key.hash, prompt);
    try {
      await cache.put(key, prompt);
    } catch (error) {
      journal(`the prompt of ${key.agent} is shortened for this run alone: ${messageOf(error)}`);
    }
  };

  const shorten = async (key: PromptKey, { agent, text, tools }: AgentPrompt): Promise<void> => {
    await setImmediate();
    if (leaving.signal.aborted || now() < pausedUntil) return;
    if (hasSecret(text)) {
      known.set(key.hash, { at: now(), why: 'there is a secret in it' });
      return;
    }
    const demands = readDemands(text, tools);
    const question = writeQuestion({ prompt: text, demands, limitTokens, mark: newId('mark') });
    const answer = await ask(question, leaving.signal);
    if (leaving.signal.aborted) return;
    if (answer.ok) {
      waste.made(agent);
      journal(`the prompt of ${agent}: ${text.length} characters became ${answer.value.length}`);
      return keep(key, { at: now(), text: answer.value, model: answer.model, question: answer.prompt });
    }
    journal(`the prompt of ${agent} stays as it is: ${answer.why}`);
    if (answer.isRetryable) pausedUntil = now() + PAUSE_MS;
    else await keep(key, { at: now(), why: answer.why });
  };

  const begin = (key: PromptKey, prompt: SessionPrompt): void => {
    if (leaving.signal.aborted || now() < pausedUntil) return;
    if (known.get(key.hash) !== undefined || waiting.has(key.hash) || waiting.size >= MOST_WAITING) return;
    if (!waste.isWorthIt(key, prompt.startedAt)) return;
    waiting.add(key.hash);
    work = work
      .then(() => shorten(key, prompt))
      .catch((error) => journal(`a prompt could not be shortened: ${messageOf(error)}`))
      .finally(() => waiting.delete(key.hash));
  };

  const look = async (prompt: SessionPrompt): Promise<string | undefined> => {
    const key = keyOf(prompt);
    const found = known.get(key.hash) ?? (await cache.get(key));
    if (found === undefined) {
      begin(key, prompt);
      return undefined;
    }
    known.set(key.hash, found);
    if (found.text === undefined || found.at >= prompt.startedAt) return undefined;
    waste.used(key.agent);
    return found.text;
  };

  return {
    find: async (prompt) => {
      if (prompt.text.length <= shortest || prompt.text.length > LONGEST) return undefined;
      try {
        return await look(prompt);
      } catch (error) {
        journal(`no shorter prompt could be looked up: ${messageOf(error)}`);
        return undefined;
      }
    },
    settled: async () => {
      for (let seen: unknown; seen !== work; ) {
        seen = work;
        await work;
      }
    },
    close: async () => {
      leaving.abort();
      await work;
    },
  };
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
