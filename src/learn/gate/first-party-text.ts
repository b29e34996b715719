import type { Origin } from '../../core/learn.ts';
import { type PastedText, splitPastedText } from '../../text/pasted-text.ts';
import { splitFoldedSentences } from '../../text/sentences.ts';
import { foldText } from './normalize-text.ts';
import { isProse } from './outside-statements.ts';

/** What the author of a message wrote, and what they forwarded. In feedback on a turn, people quote the result that they want. */
export const splitFirstPartyText = (text: string, origin: Origin): PastedText =>
  splitPastedText(text, origin === 'user' ? 'pasted' : 'own');

/** Whether a message forwards prose; logs and code do not count. */
export const forwardsProse = (text: string, origin: Origin): boolean =>
  splitFoldedSentences(foldText(splitFirstPartyText(text, origin).pasted)).some(isProse);
