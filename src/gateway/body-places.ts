import type { Outline, WireName } from '../core/wire.ts';
import { eachElement, OPEN_BRACKET, readString, type Span, skipSpace, skipValue } from '../wire/scan.ts';

/**
 * The few places of a body in which clients say who they are. Offsets only;
 * nothing is copied or parsed that is not small. A body that is no JSON object has no places.
 */
export interface BodyPlaces {
  readonly bytes: Buffer;
  /** A member of the body's object. */
  member(name: string): Span | undefined;
  /** A member that is a short string. */
  text(name: string): string | undefined;
  /** Whether the request gives the model any tool. */
  hasTools(): boolean;
  /** The client's own instructions where they stand first, at most 256 KB of them. */
  leading(): readonly Span[];
  /** The beginning of the conversation, at most 256 KB of it. */
  opening(): Span | undefined;
  /** The end of the conversation, at most 64 KB of it. */
  closing(): Span | undefined;
  newestMessage(): Span | undefined;
}

const OPENING_BYTES = 256 * 1024;
const CLOSING_BYTES = 64 * 1024;
const SHORT_TEXT = 16 * 1024;

export function findPlaces(
  wire: WireName,
  body: Buffer | undefined,
  outline: Outline | undefined,
): BodyPlaces {
  const bytes = body ?? Buffer.alloc(0);
  const member = (name: string): Span | undefined => outline?.member(name);
  const conversation = (): Span | undefined => member(wire === 'openai-responses' ? 'input' : 'messages');

  return {
    bytes,
    member,
    text: (name) => {
      const span = member(name);
      return span && span[1] - span[0] <= SHORT_TEXT ? readString(bytes, span) : undefined;
    },
    hasTools: () => ['tools', 'functions'].some((name) => firstElement(bytes, member(name)) !== undefined),
    leading: () => {
      const isAnthropic = wire === 'anthropic';
      const given = member(isAnthropic ? 'system' : 'instructions');
      const first = isAnthropic ? undefined : firstElement(bytes, conversation());
      return [given, first].flatMap((span) => (span ? [cut(span)] : []));
    },
    opening: () => {
      const span = conversation();
      return span && cut(span);
    },
    closing: () => {
      const span = conversation();
      return span && [Math.max(span[0], span[1] - CLOSING_BYTES), span[1]];
    },
    newestMessage: () => lastElement(bytes, conversation()),
  };
}

/** Where `needle` stands in a span, or -1. */
export function findIn(bytes: Buffer, span: Span | undefined, needle: string): number {
  if (span === undefined) return -1;
  const at = bytes.subarray(span[0], span[1]).indexOf(needle, 0, 'latin1');
  return at < 0 ? -1 : span[0] + at;
}

const cut = ([start, end]: Span): Span => [start, Math.min(end, start + OPENING_BYTES)];

function firstElement(bytes: Buffer, list: Span | undefined): Span | undefined {
  if (list === undefined || bytes[list[0]] !== OPEN_BRACKET) return undefined;
  const at = skipSpace(bytes, list[0] + 1);
  const end = skipValue(bytes, at);
  return end < 0 ? undefined : [at, end];
}

function lastElement(bytes: Buffer, list: Span | undefined): Span | undefined {
  if (list === undefined || bytes[list[0]] !== OPEN_BRACKET) return undefined;
  let last: Span | undefined;
  eachElement(bytes, list[0], (at) => {
    const end = skipValue(bytes, at);
    if (end > 0) last = [at, end];
    return end;
  });
  return last;
}
