import type { Signal } from '../core/evidence.ts';
import { digestError } from './digest/digest-error.ts';
import { type Correction, findCorrection, hasComplaint } from './find-correction.ts';
import { plainWords } from './plain-words.ts';
import type { TurnReading } from './read-turn.ts';
import { findThanks } from './thanks-words.ts';

const MORE_THAN_A_NOD = 4;
const ABOUT_CAP = 4000;

/** The user's next message weighs more than any tool output. */
export function findUserCorrection(turn: TurnReading): Signal | undefined {
  const said = readReaction(turn);
  if (said === 'doubted')
    return { name: 'user-doubted', source: 'signal', score: 0.3, weight: 1, reason: 'the user has doubts' };
  if (said !== 'wrong') return undefined;
  return { name: 'user-corrected', source: 'signal', score: 0, weight: 3, reason: 'the user corrected it' };
}

export function findUserThanks(turn: TurnReading): Signal | undefined {
  if (readReaction(turn) !== 'thanked') return undefined;
  return { name: 'user-thanked', source: 'signal', score: 1, weight: 2, reason: 'the user was content' };
}

function readReaction({ evidence, said, calls }: TurnReading): Correction | 'thanked' | undefined {
  // A rejection with a reason is a correction, whatever the words are.
  if (calls.some(({ outcome }) => outcome?.kind === 'rejected' && outcome.words !== undefined))
    return 'wrong';
  const words = plainWords(evidence.next?.user ?? '');
  if (words.split(/\s+/, MORE_THAN_A_NOD).length < MORE_THAN_A_NOD && hasTrace(evidence.next?.user ?? ''))
    return 'wrong';
  if (words === '') return undefined;
  const about = `${evidence.task.slice(0, ABOUT_CAP)} ${said.slice(0, ABOUT_CAP)}`.toLowerCase();
  const correction = findCorrection(words, { asked: said.endsWith('?'), about });
  if (correction !== undefined) return correction;
  if (!findThanks(words)) return undefined;
  return hasComplaint(words) ? 'wrong' : 'thanked';
}

/** A message that is only a stack trace means that the user tried the result. */
const hasTrace = (text: string): boolean =>
  digestError(text).some((line) => /(?:Error|Exception|panic).* @ /.test(line));
