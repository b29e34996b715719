import { asArray, asObject, asString, parseJson } from '../core/json.ts';
import type { Quote } from '../core/lesson.ts';
import type { Records } from '../core/store.ts';

/** How far back in a conversation a quote is searched. */
const MOST_MANIFESTS = 8;

/** The position of a passage in the recorded blocks of a turn; undefined when it does not occur verbatim. */
export async function locateQuote(
  turn: string,
  text: string,
  records: Pick<Records, 'turn' | 'block'>,
): Promise<Quote | undefined> {
  const view = await records.turn(turn);
  // As it is written inside a JSON string.
  const needle = JSON.stringify(text).slice(1, -1);
  if (view === undefined || needle === '') return undefined;
  const find = async (block: string): Promise<Quote | undefined> => {
    const start = (await records.block(block))?.indexOf(needle) ?? -1;
    return start < 0 ? undefined : { turn, block, start, length: needle.length };
  };
  const inReply = view.reply === undefined ? undefined : await find(view.reply);
  if (inReply !== undefined) return inReply;
  let manifest = view.request;
  for (let step = 0; manifest !== undefined && step < MOST_MANIFESTS; step++) {
    const fields = asObject(parseJson((await records.block(manifest)) ?? ''));
    const lists = Object.values(asObject(fields.lists)).flatMap((list) => asArray(asObject(list).add));
    const parts = [fields.rest, ...lists].flatMap((part) => asString(part) ?? []);
    for (const block of [manifest, ...parts.reverse()]) {
      const found = await find(block);
      if (found !== undefined) return found;
    }
    manifest = asString(fields.base);
  }
  return undefined;
}
