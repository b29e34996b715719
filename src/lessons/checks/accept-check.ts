import {
  type CheckedWork,
  type CheckResult,
  type CheckTest,
  hasCommand,
  type RuleCheck,
} from '../../core/check.ts';
import { plural } from '../../text/phrases.ts';
import { type ReadCheck, readCheck } from './read-check.ts';
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
  /** Reads the newest answers outside the rule's scope; none for a rule that stands everywhere. Asked for what passes the other tests. */
  readonly outside: () => Promise<readonly CheckedWork[]>;
  readonly hasSecret: (text: string) => boolean;
  /** Asks a check with tests that need a model; absent: it has no answer to them. */
  readonly ask?: (check: RuleCheck, work: CheckedWork) => Promise<CheckResult>;
}

export const MOST_OUTSIDE_ANSWERS = 200;
const MOST_OUTSIDE_SHARE = 0.02;

/**
 * Tests a check on what its rule was learned from. It must find the corrected answer broken and the revised one kept, as far as these
 * exist, and must leave other work alone. Without a corrected answer a check from literals is provisional.
 */
export async function acceptCheck(
  { check, examples }: CheckDraft,
  evidence: CheckEvidence,
): Promise<ReadCheck> {
  const { looksAt, appliesWhen, holdsWhen, by } = check;
  const rule = { looksAt, appliesWhen, holdsWhen, by };
  const draft = readCheck({ ...rule, standing: 'provisional', proof: 'not tested yet' }, evidence.hasSecret);
  if (!draft.ok) return draft;
  if (by === 'model' && holdsWhen.some(listsSymptoms))
    return refused('it lists phrases, and other words would break the rule unseen');
  const testOthers = async (): Promise<ReachTest> => testReach(draft.check, await evidence.outside());
  const testOwn = (): Promise<ReadCheck> =>
    by === 'model' && hasCommand(check)
      ? Promise.resolve({ ok: true, check: { ...rule, standing: 'provisional', proof: UNCONFIRMED } })
      : testOnAnswers(draft.check, examples, evidence);
  // What costs less comes first: reading other answers costs more than a program's test, and less than asking a model.
  const early = by === 'model' ? await testOthers() : undefined;
  if (early?.ok === false) return early;
  const own = await testOwn();
  if (!own.ok) return own;
  const others = early ?? (await testOthers());
  if (!others.ok || own.check.proof === UNCONFIRMED) return others.ok ? own : others;
  return {
    ok: true,
    check: { ...rule, standing: own.check.standing, proof: `${own.check.proof}${others.told}` },
  };
}

type ReachTest = { readonly ok: true; readonly told: string } | { readonly ok: false; readonly why: string };

function testReach(check: RuleCheck, answers: readonly CheckedWork[]): ReachTest {
  const outside = answers.slice(-MOST_OUTSIDE_ANSWERS);
  const met = outside.filter((work) => mayApply(check, work)).length;
  const of = `${met} of ${plural(outside.length, 'other answer')}`;
  if (met > outside.length * MOST_OUTSIDE_SHARE)
    return { ok: false, why: `it applies to ${of}, which the rule is not about` };
  return { ok: true, told: outside.length === 0 ? '' : `, applies to ${of}` };
}

/** On the two answers; without a corrected one on the examples. */
async function testOnAnswers(
  check: RuleCheck,
  examples: CheckDraft['examples'],
  { corrected, revised, ask = async (rule, work) => runCheck(rule, work) }: CheckEvidence,
): Promise<ReadCheck> {
  const outcomeOf = async (work: CheckedWork) => (await ask(check, work)).outcome;
  if (corrected !== undefined) {
    const before = await outcomeOf(corrected);
    const after = before !== 'broken' || revised === undefined ? 'kept' : await outcomeOf(revised);
    if (before !== 'broken') return refused('it does not find the corrected answer broken');
    if (after !== 'kept') return refused('it does not find the revised answer kept');
    const onRevised = revised === undefined ? '' : ', passes on the revised one';
    const proof = `fails on the corrected answer${onRevised}`;
    return { ok: true, check: { ...check, standing: 'accepted', proof } };
  }
  if (revised !== undefined && (await outcomeOf(revised)) === 'broken')
    return refused('it finds the revised answer broken');
  if (examples === undefined)
    return refused('there is no corrected answer to test it on, and the rule names no literal');
  if ((await outcomeOf(examples.keeping)) !== 'kept')
    return refused('it does not find an answer kept that was made from the words of the rule');
  if ((await outcomeOf(examples.breaking)) !== 'broken')
    return refused('it does not find an answer broken that was made from the words of the rule');
  const proof = 'tested on examples made from the words of the rule';
  return { ok: true, check: { ...check, standing: 'provisional', proof } };
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

const refused = (why: string): ReadCheck => ({ ok: false, why });
