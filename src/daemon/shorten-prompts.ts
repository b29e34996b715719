import { blockHash } from '../base/block-hash.ts';
import { createLruMap } from '../base/lru-map.ts';
import { asArray, asObject, asString, compact, type Json, parseJson } from '../core/json.ts';
import type { Records } from '../core/store.ts';
import type { ShownLessons, Turn } from '../gateway/turn.ts';
import { type Compressor, createCompressor, type WritePrompt } from '../learn/compress/compressor.ts';
import type { PromptCache } from '../learn/compress/prompt-cache.ts';
import { findSystemText } from '../wire/system-text.ts';
import type { ServedLessons } from './serve-lessons.ts';

interface ServeShorteningOptions extends Pick<ShortenPromptsOptions, 'records' | 'now'> {
  /** The limit in force; undefined while prompts are not shortened. */
  readonly overTokens: () => number | undefined;
  readonly write: WritePrompt;
  readonly cache: PromptCache;
  readonly journal: (note: string) => void;
}

interface Shortening {
  shorten(turn: Turn): Promise<ShownLessons['shortened'] | undefined>;
  close(): Promise<void>;
}

interface ServedShortening {
  /** Undefined while prompts are not shortened. */
  current(): Shortening | undefined;
  close(): Promise<void>;
}

/** Shortens long system prompts for the sessions after the one in which they were first seen. */
export function servePromptShortening(options: ServeShorteningOptions): ServedShortening {
  const { records, now, overTokens: limitNow, ...parts } = options;
  let made: { readonly overTokens: number; readonly shortening: Shortening } | undefined;
  const create = (overTokens: number): Shortening => {
    const compressor = createCompressor({ ...parts, now, overTokens });
    // A token has at least one byte, so a smaller body has no prompt over the limit.
    const shortestBody = overTokens;
    const shorten = createShortenPrompts({ compressor, records, now, hashOf: blockHash, shortestBody });
    return { shorten, close: () => compressor.close() };
  };
  const current = (): Shortening | undefined => {
    const overTokens = limitNow();
    if (made?.overTokens === overTokens) return made?.shortening;
    void made?.shortening.close();
    made = overTokens === undefined ? undefined : { overTokens, shortening: create(overTokens) };
    return made?.shortening;
  };
  return { current, close: async () => made?.shortening.close() };
}

interface ShortenPromptsOptions {
  readonly compressor: Compressor;
  readonly records: Pick<Records, 'session'>;
  readonly now: () => number;
  readonly hashOf: (text: string) => string;
  /** Smaller bodies have no prompt over the limit. */
  readonly shortestBody: number;
}

const MOST_SESSIONS = 10_000;

/** The replacement for a turn's long system prompt; undefined to send it unchanged. Never rejects. */
function createShortenPrompts(
  options: ShortenPromptsOptions,
): (turn: Turn) => Promise<ShownLessons['shortened'] | undefined> {
  const { compressor, records, now, hashOf, shortestBody } = options;
  const begun = createLruMap<string, number>(MOST_SESSIONS);
  const startOf = async (session: string): Promise<number> => {
    const known = begun.get(session);
    if (known !== undefined) return known;
    // The session may have begun before this process: it keeps the prompt it began with.
    const recorded = await records.session(session).catch(() => undefined);
    const at = begun.get(session) ?? recorded?.startedAt ?? now();
    begun.set(session, at);
    return at;
  };

  return async ({ body, outline, wire, identity, session }) => {
    const isOurs = identity.role === 'main' || identity.role === 'side';
    if (body === undefined || outline === undefined || body.length < shortestBody || !isOurs)
      return undefined;
    const found = findSystemText(wire.name, body, outline);
    if (found === undefined) return undefined;
    const tools = outline.member('tools');
    const text = await compressor.find({
      agent: identity.agent ?? identity.client ?? 'unknown',
      text: found.text,
      tools: tools === undefined ? [] : toolNames(parseJson(body.toString('utf8', ...tools))),
      startedAt: await startOf(session.session),
    });
    return text === undefined ? undefined : { span: found.span, text, hash: hashOf(text) };
  };
}

function toolNames(tools: Json | undefined): readonly string[] {
  return asArray(tools).flatMap((entry) => {
    const tool = asObject(entry);
    return asString(tool.name) ?? asString(asObject(tool.function).name) ?? [];
  });
}

type Lessons = ServedLessons['lessons'];

/** Adds the shortened prompt to a turn's lessons, where shortening is configured. */
export function withShortenedPrompts(lessons: Lessons, { current }: ServedShortening): Lessons {
  const shorten = async (turn: Turn, most: number | undefined, by: Shortening): Promise<ShownLessons> => {
    const [shown, shortened] = await Promise.all([lessons(turn, most), by.shorten(turn)]);
    return compact({ ...shown, shortened });
  };
  return (turn, most) => {
    const shortening = current();
    return shortening === undefined ? lessons(turn, most) : shorten(turn, most, shortening);
  };
}
