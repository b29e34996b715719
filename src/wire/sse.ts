import type { SseEvent } from '../core/wire.ts';
import { viewBytes } from './json-scan.ts';

/** Encodes one event. Data may contain line breaks; each line gets its own `data:`. */
export function encodeSse(event: string | undefined, data: string): string {
  const head = event === undefined ? '' : `event: ${event}\n`;
  if (!/[\r\n]/.test(data)) return `${head}data: ${data}\n\n`;
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `${head}${lines.join('')}\n`;
}

/**
 * Decodes a stream of server-sent events by the HTML standard. An event is complete with its blank line; an unfinished
 * one is dropped. Never throws, and keeps no reference to a chunk's memory.
 */
interface SseDecoder {
  /** The events that `chunk` completes. */
  push(chunk: Uint8Array): readonly SseEvent[];
  /** Whether an event exceeded the limit; no events follow it. */
  readonly overflow: boolean;
}

interface SseDecoderOptions {
  /** The limit for the lines of one event. */
  readonly maxEventBytes?: number;
}

const LF = 0x0a;
const CR = 0x0d;
const COLON = 0x3a;
const SPACE = 0x20;
const DEFAULT_MAX_EVENT_BYTES = 64 * 1024 * 1024;

export function createSseDecoder({
  maxEventBytes = DEFAULT_MAX_EVENT_BYTES,
}: SseDecoderOptions = {}): SseDecoder {
  const partial = createPartialLine();
  let data: string[] = [];
  let dataBytes = 0;
  let name = '';
  let isFirstLine = true;
  let endedWithCr = false;
  let overflow = false;

  /** Whether a line of this length stays within the limit. */
  function fits(lineBytes: number): boolean {
    if (dataBytes + lineBytes <= maxEventBytes) return true;
    overflow = true;
    data = [];
    partial.take();
    return false;
  }

  function readLine(line: Buffer, events: SseEvent[]): void {
    const bytes = isFirstLine ? withoutBom(line) : line;
    isFirstLine = false;
    if (bytes.length > 0) {
      const text = fieldValue(bytes, 'data');
      if (text !== undefined) {
        data.push(text);
        dataBytes += bytes.length;
      } else name = fieldValue(bytes, 'event') ?? name;
      return;
    }
    if (data.length > 0) events.push({ event: name === '' ? undefined : name, data: data.join('\n') });
    data = [];
    dataBytes = 0;
    name = '';
  }

  function push(chunk: Uint8Array): readonly SseEvent[] {
    const events: SseEvent[] = [];
    if (overflow || chunk.length === 0) return events;
    const bytes = viewBytes(chunk);
    let from = endedWithCr && bytes[0] === LF ? 1 : 0;
    endedWithCr = false;
    let lf = bytes.indexOf(LF, from);
    let cr = bytes.indexOf(CR, from);
    while (lf >= 0 || cr >= 0) {
      const end = lf < 0 || (cr >= 0 && cr < lf) ? cr : lf;
      if (!fits(partial.length() + end - from)) return events;
      readLine(partial.take(bytes.subarray(from, end)), events);
      from = end + 1;
      if (end === cr) {
        if (from === bytes.length) endedWithCr = true;
        else if (from === lf) from++;
      }
      if (lf >= 0 && lf < from) lf = bytes.indexOf(LF, from);
      if (cr >= 0 && cr < from) cr = bytes.indexOf(CR, from);
    }
    if (fits(partial.length() + bytes.length - from)) partial.add(bytes.subarray(from));
    return events;
  }

  return {
    push,
    get overflow() {
      return overflow;
    },
  };
}

const withoutBom = (line: Buffer): Buffer =>
  line[0] === 0xef && line[1] === 0xbb && line[2] === 0xbf ? line.subarray(3) : line;

/** A line is split at ASCII bytes, so no code point crosses its ends and it can be decoded on its own. */
function fieldValue(line: Buffer, field: string): string | undefined {
  for (let i = 0; i < field.length; i++) if (line[i] !== field.charCodeAt(i)) return undefined;
  if (line.length === field.length) return '';
  if (line[field.length] !== COLON) return undefined;
  const start = field.length + 1;
  return line.toString('utf8', line[start] === SPACE ? start + 1 : start);
}

interface PartialLine {
  length(): number;
  add(bytes: Buffer): void;
  /** The line with its last bytes, valid until the next `add`; the buffer is empty afterwards. */
  take(rest?: Buffer): Buffer;
}

const EMPTY = Buffer.alloc(0);
const KEPT_CAPACITY = 64 * 1024;

/** Grows by doubling: a long line that arrives byte by byte is copied in linear time, without an object per chunk. */
function createPartialLine(): PartialLine {
  let held = EMPTY;
  let length = 0;

  function add(bytes: Buffer): void {
    if (bytes.length === 0) return;
    if (length + bytes.length > held.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(256, 2 * held.length, length + bytes.length));
      grown.set(held.subarray(0, length));
      held = grown;
    }
    held.set(bytes, length);
    length += bytes.length;
  }

  function take(rest: Buffer = EMPTY): Buffer {
    if (length === 0) return rest;
    add(rest);
    const line = held.subarray(0, length);
    length = 0;
    if (held.length > KEPT_CAPACITY) held = EMPTY;
    return line;
  }

  return { length: () => length, add, take };
}
