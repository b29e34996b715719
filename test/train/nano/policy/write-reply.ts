import type { NanoReply } from '../../../../train/nano/policy/nano-template.ts';
import type { NanoTokenizer } from '../../../../train/nano/policy/tokenizer.ts';
import { MARK } from '../../../../train/nano/policy/vocabulary.ts';

/** The inverse of `readNanoReply`. */
export function writeNanoReply(reply: NanoReply, tokenizer: NanoTokenizer): readonly number[] {
  switch (reply.is) {
    case 'act':
      return [MARK.act, ...tokenizer.encode(reply.commands.join('\n')), MARK.end];
    case 'say':
      return [MARK.say, ...tokenizer.encode(reply.text), MARK.end];
    case 'foreign':
      return [MARK.foreign, MARK.end];
  }
}
