import type { Tokenizer } from './tokenizer.ts';
import { MARK } from './vocabulary.ts';

/** What the policy has to say to a task: it does everything at once, says something, or knows that it is no task of its kind. */
export type Reply =
  | { readonly is: 'act'; readonly commands: readonly string[] }
  | { readonly is: 'say'; readonly text: string }
  | { readonly is: 'foreign' };

/** The tokens that `readReply` reads as this. */
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
