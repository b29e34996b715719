import { mayTeach } from '../core/caller.ts';
import { isFlowPolicy } from '../core/overlay.ts';
import type { TurnView } from '../core/store.ts';

/**
 * Whether a recorded turn may be appraised, taught from, scored or trained on: its caller is known, all of it could be
 * read, and a model answered it, not a flow. Everything that learns asks here. A person's feedback on another turn is kept, and nothing is learned from it.
 */
export const isLearnedFrom = ({
  caller,
  unreadable,
  policy,
}: Pick<TurnView, 'caller' | 'unreadable' | 'policy'>): boolean =>
  mayTeach(caller) && unreadable === undefined && !isFlowPolicy(policy);
