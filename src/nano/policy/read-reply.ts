import type { Tokenizer } from './tokenizer.ts';
import { MARK } from './vocabulary.ts';
import type { Reply } from './write-reply.ts';

const DONE = 'done';

/**
 * Decodes sampled tokens. Never throws, since a policy in training may sample anything. Commands always end with `done`,
 * because the policy reads no results. A reply without an opening mark is text.
 */
export function readReply(tokens: Iterable<number>, tokenizer: Tokenizer): Reply {
  const [...all] = tokens;
  const end = all.indexOf(MARK.end);
  const content = end < 0 ? all : all.slice(0, end);
  const [mark, ...rest] = content;
  if (mark === MARK.foreign) return { is: 'foreign' };
  if (mark !== MARK.act)
    return { is: 'say', text: tokenizer.decode(mark === MARK.say ? rest : content).trim() };
  const commands = tokenizer
    .decode(rest)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  return { is: 'act', commands: commands.at(-1) === DONE ? commands : [...commands, DONE] };
}
