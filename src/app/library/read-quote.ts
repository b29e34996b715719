import { asString, parseJson } from '../../core/json.ts';
import type { Quote } from '../../core/lesson.ts';
import type { Records } from '../../core/records.ts';

/** A quote with its text from the record; without text when it was erased. */
export async function readQuote(
  { turn, block, start, length }: Quote,
  records: Pick<Records, 'block'>,
): Promise<{ readonly turn: string; readonly text?: string }> {
  const stored = await records.block(block);
  const text = stored && asString(parseJson(`"${stored.slice(start, start + length)}"`));
  return text === undefined ? { turn } : { turn, text };
}
