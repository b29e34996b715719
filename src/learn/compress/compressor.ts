import { createLruMap } from '../../base/lru-map.ts';
import { errorMessage } from '../../core/failure.ts';
import { CHARACTERS_PER_TOKEN } from '../../text/estimate-tokens.ts';
import {
  type AgentPrompt,
  type PromptCache,
  type PromptKey,
  promptKey,
  type ShortenedPrompt,
} from './prompt-cache.ts';

/** A shorter prompt, or why there is none. */
export type WrittenPrompt =
  | {
      readonly ok: true;
      readonly text: string;
      /** The model that wrote it, and the hash of the question. */
      readonly model: string;
      readonly question: string;
    }
  | {
      readonly ok: false;
      readonly why: string;
      /** The model was unavailable or the budget spent: it may succeed later. */
      readonly isRetryable: boolean;
      /** Nothing about this prompt may be stored. */
      readonly isPrivate?: boolean;
    };

/** Writes a shorter prompt of at most `limitTokens` tokens. */
export type WritePrompt = (
  prompt: AgentPrompt,
  limitTokens: number,
  signal: AbortSignal,
) => Promise<WrittenPrompt>;

interface CompressorOptions {
  readonly write: WritePrompt;
  readonly cache: PromptCache;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  /** Only prompts over this many tokens are shortened. */
  readonly overTokens: number;
  /** The length that they are shortened to. */
  readonly limitTokens?: number;
  readonly journal?: (note: string) => void;
}

interface SessionPrompt extends AgentPrompt {
  /** The session's start in milliseconds since the epoch: the same for each of its turns. */
  readonly startedAt: number;
}

export interface Compressor {
  /**
   * The shorter prompt for a session; undefined: use the prompt itself. Never rejects and never waits for a model: an
   * unknown prompt is used as it is and shortened for later sessions. A session that began before the shorter prompt existed
   * never gets it, so that the provider's prompt cache stays valid.
   */
  find(prompt: SessionPrompt): Promise<string | undefined>;
  /** Resolves when nothing is being shortened. */
  settled(): Promise<void>;
  /** Aborts what is being shortened. */
  close(): Promise<void>;
}

/** Where shortening pays: prompts of coding agents are longer, those of chat programs shorter. */
export const LONG_PROMPT_TOKENS = 6000;
/** In characters: reading the requirements of a prompt of this length takes a tenth of a second. */
const LONGEST = 150_000;
const MOST_REMEMBERED = 200;
const MOST_KEYS = 32;
const MOST_WAITING = 16;
/** After a retryable failure the model is not asked for this long. */
const PAUSE_MS = 5 * 60_000;

/** Shortened prompts: those used last in memory, all in the cache. */
function createPromptStore(cache: PromptCache, now: () => number, journal: (note: string) => void) {
  const recent = createLruMap<string, ShortenedPrompt>(MOST_REMEMBERED);
  const remember = (key: PromptKey, prompt: ShortenedPrompt): void => void recent.set(key.hash, prompt);
  return {
    recall: (key: PromptKey): ShortenedPrompt | undefined => recent.get(key.hash),
    remember,
    keep: async (key: PromptKey, outcome: Omit<ShortenedPrompt, 'at'>): Promise<void> => {
      const prompt = { at: now(), ...outcome };
      remember(key, prompt);
      try {
        await cache.put(key, prompt);
      } catch (error) {
        journal(
          `the shortened prompt of ${key.agent} could not be stored; it is used until the daemon stops: ${errorMessage(error)}`,
        );
      }
    },
  };
}

export function createCompressor(options: CompressorOptions): Compressor {
  const { write, cache, now, limitTokens = 2000, journal = () => undefined } = options;
  const shortest = Math.max(options.overTokens, limitTokens) * CHARACTERS_PER_TOKEN;
  const prompts = createPromptStore(cache, now, journal);
  const keys = createLruMap<string, PromptKey>(MOST_KEYS);
  const reuse = createReuseTracker();
  const waiting = new Set<string>();
  const closing = new AbortController();
  let work: Promise<void> = Promise.resolve();
  let pausedUntil = Number.NEGATIVE_INFINITY;

  /** A session sends the same prompt with each turn, and hashing it costs more than a map lookup. */
  const keyOf = (prompt: SessionPrompt): PromptKey => {
    const whole = `${JSON.stringify([prompt.agent, prompt.tools])}\n${prompt.text}`;
    const key = keys.get(whole) ?? promptKey(prompt, limitTokens);
    keys.set(whole, key);
    return key;
  };

  const shorten = async (key: PromptKey, { agent, text, tools }: AgentPrompt): Promise<void> => {
    if (closing.signal.aborted || now() < pausedUntil) return;
    const written = await write({ agent, text, tools }, limitTokens, closing.signal);
    if (closing.signal.aborted) return;
    if (written.ok) {
      const { text: shorter, model, question } = written;
      reuse.shortened(agent);
      journal(`the prompt of ${agent} was shortened from ${text.length} to ${shorter.length} characters`);
      return prompts.keep(key, { text: shorter, model, question });
    }
    const { why, isRetryable, isPrivate = false } = written;
    if (isPrivate) return prompts.remember(key, { at: now(), why });
    journal(`the prompt of ${agent} was not shortened: ${why}`);
    if (isRetryable) pausedUntil = now() + PAUSE_MS;
    else await prompts.keep(key, { why });
  };

  const begin = (key: PromptKey, prompt: SessionPrompt): void => {
    if (closing.signal.aborted || now() < pausedUntil) return;
    if (prompts.recall(key) !== undefined || waiting.has(key.hash) || waiting.size >= MOST_WAITING) return;
    if (!reuse.isLikely(key, prompt.startedAt)) return;
    waiting.add(key.hash);
    work = work
      .then(() => shorten(key, prompt))
      .catch((error) => journal(`shortening a prompt failed: ${errorMessage(error)}`))
      .finally(() => waiting.delete(key.hash));
  };

  const lookUp = async (prompt: SessionPrompt): Promise<string | undefined> => {
    const key = keyOf(prompt);
    const shortened = prompts.recall(key) ?? (await cache.get(key));
    if (shortened === undefined) {
      begin(key, prompt);
      return undefined;
    }
    prompts.remember(key, shortened);
    if (shortened.text === undefined || shortened.at >= prompt.startedAt) return undefined;
    reuse.used(key.agent);
    return shortened.text;
  };

  return {
    find: async (prompt) => {
      if (prompt.text.length <= shortest || prompt.text.length > LONGEST) return undefined;
      try {
        return await lookUp(prompt);
      } catch (error) {
        journal(`looking up a shortened prompt failed: ${errorMessage(error)}`);
        return undefined;
      }
    },
    settled: async () => {
      for (let awaited: unknown; awaited !== work; ) {
        awaited = work;
        await work;
      }
    },
    close: async () => {
      closing.abort();
      await work;
    },
  };
}

/** After this many shortenings in a row that no later session used, an agent's prompts are taken to differ each time. */
const MOST_UNUSED = 3;
const MOST_SEEN = 500;

interface ReuseTracker {
  shortened(agent: string): void;
  used(agent: string): void;
  /** Whether a later session is likely to send the same prompt. */
  isLikely(key: PromptKey, startedAt: number): boolean;
}

/**
 * Tracks which agents reuse their prompts. Some put the date or the state of the working tree into the prompt, so that no
 * two sessions send the same one and shortening is wasted. A prompt of such an agent must be seen in a second session first.
 */
function createReuseTracker(): ReuseTracker {
  const unused = createLruMap<string, number>(MOST_SEEN);
  const firstStarts = createLruMap<string, number>(MOST_SEEN);
  return {
    shortened: (agent) => unused.set(agent, (unused.get(agent) ?? 0) + 1),
    used: (agent) => unused.set(agent, 0),
    isLikely: ({ agent, hash }, startedAt) => {
      if ((unused.get(agent) ?? 0) < MOST_UNUSED) return true;
      const first = firstStarts.get(hash) ?? startedAt;
      firstStarts.set(hash, first);
      return first !== startedAt;
    },
  };
}
