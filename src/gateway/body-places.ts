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
  /** How the client's instructions begin, wherever they stand: the first 8 KB. */
  introductions(): readonly Span[];
  /** The instructions that stand apart from the conversation, at most 256 KB of them. */
  instructions(): Span | undefined;
  /** The beginning of the conversation, at most 256 KB of it. */
  opening(): Span | undefined;
  /** The end of the conversation, at most 16 KB of it. */
  closing(): Span | undefined;
  newestMessage(): Span | undefined;
}

const OPENING_BYTES = 256 * 1024;
const CLOSING_BYTES = 16 * 1024;
const INTRODUCTION_BYTES = 8 * 1024;
const SHORT_TEXT = 16 * 1024;

export function findPlaces(
  wire: WireName,
  body: Buffer | undefined,
  outline: Outline | undefined,
): BodyPlaces {
  const bytes = body ?? Buffer.alloc(0);
  const member = (name: string): Span | undefined => outline?.member(name);
  const apart = (): Span | undefined => member(wire === 'anthropic' ? 'system' : 'instructions');
  const conversation = (): Span | undefined => member(wire === 'openai-responses' ? 'input' : 'messages');

  return {
    bytes,
    member,
    text: (name) => {
      const span = member(name);
      return span && span[1] - span[0] <= SHORT_TEXT ? readString(bytes, span) : undefined;
    },
    hasTools: () => ['tools', 'functions'].some((name) => firstAt(bytes, member(name)) !== undefined),
    introductions: () => {
      const list = conversation();
      const first = firstAt(bytes, list);
      return [
        apart(),
        first === undefined || list === undefined ? undefined : ([first, list[1]] as const),
      ].flatMap((span) => (span ? [cut(span, INTRODUCTION_BYTES)] : []));
    },
    instructions: () => {
      const span = apart();
      return span && cut(span, OPENING_BYTES);
    },
    opening: () => {
      const span = conversation();
      return span && cut(span, OPENING_BYTES);
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

const cut = ([start, end]: Span, most: number): Span => [start, Math.min(end, start + most)];

/** Where the first element of a list starts; undefined when it has none. */
function firstAt(bytes: Buffer, list: Span | undefined): number | undefined {
  if (list === undefined || bytes[list[0]] !== OPEN_BRACKET) return undefined;
  const at = skipSpace(bytes, list[0] + 1);
  return at < list[1] - 1 ? at : undefined;
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
