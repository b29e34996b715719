import { mayTeach } from '../core/caller.ts';
import { isFlowPolicy } from '../core/overlay.ts';
import { principalOfSession } from '../core/principal.ts';
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

/**
 * Whether a turn may become a task of practice, of a trial or of training. Those of a team's members may not: what comes of them (attempts,
 * lessons of practice, weights) is for everybody.
 */
export const isPractisedOn = (
  turn: Pick<TurnView, 'caller' | 'unreadable' | 'policy' | 'session'>,
): boolean => principalOfSession(turn.session) === undefined && isLearnedFrom(turn);
