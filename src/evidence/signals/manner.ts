import type { IdentityTier } from '../../core/lesson.ts';
import { foldAccents } from '../../reader/own-sentences.ts';
import { oneLine } from '../../text/visible-text.ts';

/** What a person said about how the agent should speak. */
export interface Manner {
  /** `length`, `address`, `tone`: of two words on one topic the newer holds. */
  readonly topic: string;
  /** Two sentences with the same key ask for the same. */
  readonly key: string;
  /** What a learner may do with it. Never core. */
  readonly tier: Exclude<IdentityTier, 'core'>;
}

interface MannerRule {
  readonly topic: string;
  readonly tier: Manner['tier'];
  /** Its first group is the key where no key is given. */
  readonly pattern: RegExp;
  readonly key?: string;
}

const REPLY = '(?:answers?|repl(?:y|ies)|responses?|messages?|explanations?|it|them|things)';

/** Each row needs words that ask for a manner of speaking: a sentence about the work itself ("make the function shorter") has none. */
const RULES: readonly MannerRule[] = [
  {
    topic: 'length',
    tier: 'free',
    key: 'short',
    pattern: new RegExp(
      `^(?:please |and |but |no, )*(?:(?:always |try to )?be (?:more |a bit |much )*(?:short(?:er)?|brief(?:er)?|concise|terse)|keep ${REPLY.replace('things', 'things|your \\w+')} (?:short(?:er)?|brief|concise)|(?:give me |write |use )?shorter (?:answers|replies|responses|messages)|(?:answer|reply|respond) (?:more )?(?:briefly|concisely|in (?:one|two|a few) sentences?))\\b`,
    ),
  },
  {
    topic: 'length',
    tier: 'free',
    key: 'short',
    pattern:
      /\byour (?:answers|replies|responses|messages|explanations) are (?:far |much |way )?too (?:long|wordy|verbose)\b/,
  },
  {
    topic: 'length',
    tier: 'free',
    key: 'long',
    pattern:
      /^(?:please )?(?:be (?:more |a bit more )?(?:detailed|thorough) (?:in|when) (?:your |you )?(?:answers?|repl\w+|responses?|explain\w*)|(?:give me |write )?longer (?:answers|replies|responses|explanations))\b/,
  },
  {
    topic: 'address',
    tier: 'guarded',
    pattern:
      /^(?:please |and |no, )*(?:call|address) me (?:as )?(?!(?:when|if|back|again|later|once|after|before|tomorrow|today|any|an?|at|on|in|out|about|with)\b|(?:dr|mr|mrs|ms|prof)\.?$)(\p{L}[\p{L}'’-]*(?:\.? \p{L}[\p{L}'’-]*){0,2})(?:[.,!;]|$)/u,
  },
  {
    topic: 'tone',
    tier: 'guarded',
    pattern:
      /^(?:please |and )*(?:be|sound|stay) (?:more |less |a bit more )?(formal|informal|casual|friendly|polite|direct|blunt|warm|serious|professional)\b(?! (?:api|interface|type|about))/,
  },
  {
    topic: 'tone',
    tier: 'guarded',
    pattern:
      /^(?:please )?(?:no|stop using|don'?t use|do not use|avoid|skip|stop) (?:the |your |any |all )?(?:more )?(emojis?|exclamation marks?|apologi[sz]ing|apologies|flattery|compliments|small talk|jokes|filler)\b/,
  },
];

const LONGEST = 160;

/** What a sentence of a person says about manner. One that asks, takes something back, or is for the moment says nothing. */
export function readManner(sentence: string): Manner | undefined {
  const folded = foldAccents(oneLine(sentence)).toLowerCase();
  if (folded.length > LONGEST || folded.endsWith('?') || NEGATED.test(folded)) return undefined;
  for (const { topic, tier, pattern, key } of RULES) {
    const found = pattern.exec(folded);
    if (found === null) continue;
    const said = key ?? (found[1] ?? '').trim().replace(/s$/, '');
    if (said !== '') return { topic, tier, key: `${topic}-${said}` };
  }
  return undefined;
}

/** "Don't be shorter", "you need not be formal": the opposite, or only for now. */
const NEGATED =
  /^(?:please )?(?:do not|don'?t|never|no need to|you (?:need not|don'?t have to)) (?:be|keep|call|address|sound|stay|answer|reply)\b|\b(?:for now|this time|just once|only here|in this (?:file|function|commit|test))\b/;
