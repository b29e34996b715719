import { asArray, asObject, asString, type Json, parseJson } from '../../core/json.ts';
import { createRecent } from '../../core/recent.ts';
import type { Records } from '../../core/records.ts';
import type { ShownLessons, Turn } from '../../gateway/turn.ts';
import type { Compressor } from '../../learn/compress/compressor.ts';
import { findSystemText } from '../../wire/system-text.ts';

export interface ShortenPromptsOptions {
  readonly compressor: Compressor;
  readonly records: Pick<Records, 'session'>;
  readonly now: () => number;
  readonly hashOf: (text: string) => string;
  /** Smaller bodies have no prompt over the limit. */
  readonly shortestBody: number;
}

const MOST_SESSIONS = 10_000;

/** The replacement for a turn's long system prompt; undefined to send it unchanged. Never rejects. */
export function createShortenPrompts(
  options: ShortenPromptsOptions,
): (turn: Turn) => Promise<ShownLessons['shortened'] | undefined> {
  const { compressor, records, now, hashOf, shortestBody } = options;
  const begun = createRecent<string, number>(MOST_SESSIONS);
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
