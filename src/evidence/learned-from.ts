import { mayTeach } from '../core/caller.ts';
import type { TurnView } from '../core/store.ts';

/**
 * Whether a recorded turn may be appraised, taught from, scored or trained on: its caller is known, and all of it could be
 * read. Everything that learns asks here. A person's feedback on another turn is kept, and nothing is learned from it.
 */
export const isLearnedFrom = ({ caller, unreadable }: Pick<TurnView, 'caller' | 'unreadable'>): boolean =>
  mayTeach(caller) && unreadable === undefined;
