import type { UnreadableBody } from '../core/fact.ts';
import { asObject, asString, compact, type JsonObject, parseJson } from '../core/json.ts';

/** Text of a body that could not be read, as it is stored in the body's place. */
interface RawText {
  readonly text: string;
  /** The text is only the beginning of the body. */
  readonly isCut?: boolean;
}

/** Longer texts are cut. */
const LONGEST_TEXT = 1024 * 1024;
/** Cut off behind the redacted text: a secret at the cut may be incomplete, and then it is not recognised. */
const SAFE_END = 16 * 1024;

/** The stored text of a body that could not be read: everything in it is redacted as plain text. */
export function encodeRawText(bytes: Buffer, redactText: (text: string) => string): string {
  const isCut = bytes.length > LONGEST_TEXT;
  const redacted = redactText(bytes.toString('utf8', 0, LONGEST_TEXT));
  const raw: RawText = isCut
    ? { text: redacted.slice(0, Math.max(0, redacted.length - SAFE_END)), isCut }
    : { text: redacted };
  return JSON.stringify({ raw });
}

/** For people and exports: why the body could not be read, its size, and its text if it is kept. */
export function describeUnreadable(body: UnreadableBody, stored: string | undefined): JsonObject {
  const raw = asObject(asObject(parseJson(stored ?? '')).raw);
  return compact({
    unreadable: body.why,
    bytes: body.bytes,
    text: asString(raw.text),
    isCut: raw.isCut === true ? true : undefined,
  });
}
