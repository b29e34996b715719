import type { Tokenizer } from './tokenizer.ts';
import { MARK } from './vocabulary.ts';
import type { Reply } from './write-reply.ts';

const DONE = 'done';

/**
 * What sampled tokens say. Never fails: a policy that is being trained says all kinds of things. Commands always end with
 * `done`, since no result is read that could lead to more; a reply without its opening mark is text.
 */
export function readReply(tokens: Iterable<number>, tokenizer: Tokenizer): Reply {
  const [...all] = tokens;
  const end = all.indexOf(MARK.end);
  const said = end < 0 ? all : all.slice(0, end);
  const [mark, ...rest] = said;
  if (mark === MARK.foreign) return { is: 'foreign' };
  if (mark !== MARK.act) return { is: 'say', text: tokenizer.decode(mark === MARK.say ? rest : said).trim() };
  const commands = tokenizer
    .decode(rest)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return { is: 'act', commands: commands.at(-1) === DONE ? commands : [...commands, DONE] };
}
