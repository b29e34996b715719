import {
  type CheckedWork,
  type CheckResult,
  type CheckTest,
  hasCommand,
  type RuleCheck,
} from '../../core/check.ts';
import { plural } from '../../text/phrases.ts';
import { readCheck } from './read-check.ts';
import { awaitsSlowTest, runCheck } from './run-check.ts';

/** A check before it was tested. */
export interface CheckDraft {
  readonly check: Pick<RuleCheck, 'looksAt' | 'appliesWhen' | 'holdsWhen' | 'by'>;
  /** Work that keeps the rule and work that breaks it, made from literals that the rule names. */
  readonly examples?: { readonly keeping: CheckedWork; readonly breaking: CheckedWork };
}

/** What a check is tested on. */
export interface CheckEvidence {
  /** The answer that the person corrected, and the one that they got then. */
  readonly corrected?: CheckedWork | undefined;
  readonly revised?: CheckedWork | undefined;
  /** The newest answers outside the rule's scope; none for a rule that stands everywhere. */
  readonly outside: readonly CheckedWork[];
  readonly hasSecret: (text: string) => boolean;
  /** Asks a check with tests that need a model; absent: it has no answer to them. */
  readonly ask?: (check: RuleCheck, work: CheckedWork) => Promise<CheckResult>;
}

export type AcceptedCheck =
  | { readonly ok: true; readonly check: RuleCheck }
  | { readonly ok: false; readonly why: string };

export const MOST_OUTSIDE_ANSWERS = 200;
const MOST_OUTSIDE_SHARE = 0.02;

/**
 * Tests a check on what its rule was learned from. It must find the corrected answer broken and the revised one kept, as far as these
 * exist, and must leave other work alone. Without a corrected answer a check from literals is provisional.
 */
export async function acceptCheck(
  { check, examples }: CheckDraft,
  evidence: CheckEvidence,
): Promise<AcceptedCheck> {
  const { corrected, revised, hasSecret, ask = async (rule, work) => runCheck(rule, work) } = evidence;
  const { looksAt, appliesWhen, holdsWhen, by } = check;
  const rule = { looksAt, appliesWhen, holdsWhen, by };
  const draft = readCheck({ ...rule, standing: 'provisional', proof: 'not tested yet' }, hasSecret);
  if (!draft.ok) return draft;
  if (by === 'model' && holdsWhen.some(listsSymptoms))
    return refused('it lists phrases, and other words would break the rule unseen');
  const outside = evidence.outside.slice(-MOST_OUTSIDE_ANSWERS);
  const met = outside.filter((work) => mayApply(draft.check, work)).length;
  if (met > outside.length * MOST_OUTSIDE_SHARE)
    return refused(
      `it applies to ${met} of ${plural(outside.length, 'other answer')}, which the rule is not about`,
    );
  const others =
    outside.length === 0 ? '' : `, applies to ${met} of ${plural(outside.length, 'other answer')}`;
  if (by === 'model' && hasCommand(check))
    return { ok: true, check: { ...rule, standing: 'provisional', proof: UNCONFIRMED } };
  const outcomeOf = async (work: CheckedWork) => (await ask(draft.check, work)).outcome;
  if (corrected !== undefined) {
    const before = await outcomeOf(corrected);
    const after = before !== 'broken' || revised === undefined ? 'kept' : await outcomeOf(revised);
    if (before !== 'broken') return refused('it does not find the corrected answer broken');
    if (after !== 'kept') return refused('it does not find the revised answer kept');
    const onRevised = revised === undefined ? '' : ', passes on the revised one';
    const proof = `fails on the corrected answer${onRevised}${others}`;
    return { ok: true, check: { ...rule, standing: 'accepted', proof } };
  }
  if (revised !== undefined && (await outcomeOf(revised)) === 'broken')
    return refused('it finds the revised answer broken');
  if (examples === undefined)
    return refused('there is no corrected answer to test it on, and the rule names no literal');
  if ((await outcomeOf(examples.keeping)) !== 'kept')
    return refused('it does not find an answer kept that was made from the words of the rule');
  if ((await outcomeOf(examples.breaking)) !== 'broken')
    return refused('it does not find an answer broken that was made from the words of the rule');
  const proof = `tested on examples made from the words of the rule${others}`;
  return { ok: true, check: { ...rule, standing: 'provisional', proof } };
}

/** A program of this machine is run for it: that is a person's decision. */
const UNCONFIRMED = 'a model proposed its command: it is run once you confirm the check';

/** Of a test that needs a process or a model no answer is needed for this. */
const mayApply = (check: RuleCheck, work: CheckedWork): boolean =>
  awaitsSlowTest(check, work) || runCheck(check, work).outcome !== 'does-not-apply';

/** A longer list of words is a guess at what people might write; forms with digits have closed lists, as of months and units. */
const MOST_PHRASES = { words: 15, digits: 40 };

/** "no jargon" as forty words of jargon: work without them was not shown to keep the rule. */
const listsSymptoms = (test: CheckTest): boolean =>
  test.is === 'pattern' &&
  test.max !== undefined &&
  test.pattern.split('|').length > MOST_PHRASES[/\\d|\[0-9/.test(test.pattern) ? 'digits' : 'words'];

const refused = (why: string): AcceptedCheck => ({ ok: false, why });
