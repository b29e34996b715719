import { blockHash } from '../base/block-hash.ts';
import { createLruMap } from '../base/lru-map.ts';
import { asArray, asObject, asString, compact, type Json, parseJson } from '../core/json.ts';
import type { Records } from '../core/store.ts';
import { findSystemText } from '../wire/system-text.ts';
import type { GatewayContext } from './context.ts';
import type { ShownLessons, Turn } from './turn.ts';

/** Knows the shorter prompts; it never waits for a model. */
interface ShorterPrompts {
  find(prompt: {
    readonly agent: string;
    readonly text: string;
    readonly tools: readonly string[];
    /** The session's start in milliseconds since the epoch. */
    readonly startedAt: number;
  }): Promise<string | undefined>;
  close(): Promise<void>;
}

interface ServeShorteningOptions {
  readonly records: Pick<Records, 'session'>;
  readonly now: () => number;
  /** Read when it is needed: it may change. */
  readonly settings: { readonly compress: boolean };
  /** Prompts of more tokens are shortened. A token has at least one byte, so a smaller body has none. */
  readonly overTokens: number;
  readonly open: () => ShorterPrompts;
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
  let shortening: Shortening | undefined;
  return {
    current: () => {
      const isOn = options.settings.compress;
      if (isOn === (shortening !== undefined)) return shortening;
      void shortening?.close();
      shortening = isOn ? createShortening(options) : undefined;
      return shortening;
    },
    close: async () => shortening?.close(),
  };
}

const MOST_SESSIONS = 10_000;

/** `shorten` gives the replacement for a turn's long system prompt; undefined to send it unchanged. Never rejects. */
function createShortening({ records, now, overTokens, open }: ServeShorteningOptions): Shortening {
  const prompts = open();
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

  const shorten: Shortening['shorten'] = async ({ body, outline, wire, identity, session }) => {
    const isOurs = identity.role === 'main' || identity.role === 'side';
    if (body === undefined || outline === undefined || body.length < overTokens || !isOurs) return undefined;
    const found = findSystemText(wire.name, body, outline);
    if (found === undefined) return undefined;
    const tools = outline.member('tools');
    const text = await prompts.find({
      agent: identity.agent ?? identity.client ?? 'unknown',
      text: found.text,
      tools: tools === undefined ? [] : toolNames(parseJson(body.toString('utf8', ...tools))),
      startedAt: await startOf(session.session),
    });
    return text === undefined ? undefined : { span: found.span, text, hash: blockHash(text) };
  };
  return { shorten, close: () => prompts.close() };
}

function toolNames(tools: Json | undefined): readonly string[] {
  return asArray(tools).flatMap((entry) => {
    const tool = asObject(entry);
    return asString(tool.name) ?? asString(asObject(tool.function).name) ?? [];
  });
}

/** Adds the shortened prompt to a turn's lessons, where shortening is configured. */
export function withShortenedPrompts(
  lessons: GatewayContext['lessons'],
  { current }: ServedShortening,
): GatewayContext['lessons'] {
  return async (turn, by) => {
    const shown = await lessons(turn, by);
    // Last, since the record dates a session when its plan ends: a prompt shortened before that would replace its own after a restart.
    return compact({ ...shown, shortened: await current()?.shorten(turn) });
  };
}
