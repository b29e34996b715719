import type { Tokenizer } from './tokenizer.ts';
import { MARK } from './vocabulary.ts';

/** A reply of the policy: all commands at once, a text, or that the task is not of a kind it knows. */
export type Reply =
  | { readonly is: 'act'; readonly commands: readonly string[] }
  | { readonly is: 'say'; readonly text: string }
  | { readonly is: 'foreign' };

/** The inverse of `readReply`. */
export function writeReply(reply: Reply, tokenizer: Tokenizer): readonly number[] {
  switch (reply.is) {
    case 'act':
      return [MARK.act, ...tokenizer.encode(reply.commands.join('\n')), MARK.end];
    case 'say':
      return [MARK.say, ...tokenizer.encode(reply.text), MARK.end];
    case 'foreign':
      return [MARK.foreign, MARK.end];
  }
}
