import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { CheckedWork, RuleCheck } from '../../../src/core/check.ts';
import { asString, isObject, parseJson } from '../../../src/core/json.ts';
import { readCheckReply, writeCheckQuestion } from '../../../src/learn/checks/check-question.ts';
import { createSlowTests } from '../../../src/learn/checks/slow-tests.ts';
import { findJson } from '../../../src/learn/find-json.ts';
import type { CheckDraft, CheckEvidence } from '../../../src/lessons/checks/accept-check.ts';
import {
  checkFromWords,
  chooseCheck,
  createOutsideTest,
  draftJudge,
} from '../../../src/lessons/checks/draft-check.ts';
import { describeCheck } from '../../../src/lessons/checks/persons-check.ts';
import type { ReadCheck } from '../../../src/lessons/checks/read-check.ts';
import { runWholeCheck } from '../../../src/lessons/checks/run-check.ts';
import { openRedactor } from '../../../src/redact/open-redactor.ts';
import { requireSome } from '../measured.ts';
import { type CheckSetRule, parseCheckSet } from './check-set.ts';
import { openRecordedJudge } from './recorded-judge.ts';
import {
  type CheckScore,
  historyOf,
  type IntervalShare,
  type ScoredRule,
  scoreRule,
  summarizeChecks,
} from './score-checks.ts';

/** How many rules get a check of their own, and whether its verdicts are right: our set, or any file of that format. */
const { values: options } = parseArgs({
  options: {
    set: { type: 'string', multiple: true, default: ['lab/measure/checks/sets/dev.jsonl'] },
    json: { type: 'boolean', default: false },
    /** Recorded replies of a model, JSONL {id, reply}: a second way. */
    replies: { type: 'string' },
    /** Recorded rulings of a model about rules for which no other check was found, JSONL {id, reply}. */
    judge: { type: 'string' },
    /** Writes what a model would be asked to rule on, JSONL {id, system, user}. */
    'write-judge': { type: 'string' },
    /** Writes what a model would be asked about the rules whose words gave no accepted check, JSONL {id, system, user}. */
    'write-prompts': { type: 'string' },
    /** The rules as feedback: no answer followed. */
    feedback: { type: 'boolean', default: false },
    /** Every rule with its check and its wrong verdicts. */
    rules: { type: 'boolean', default: false },
  },
});
const { hasSecret } = openRedactor();
const judge = openRecordedJudge(options.judge);
const isJudged = options.judge !== undefined || options['write-judge'] !== undefined;
const slow = createSlowTests({ ask: judge.ask, signal: new AbortController().signal });

/** Which check a rule is given. */
type ChooseFor = (rule: CheckSetRule, evidence: CheckEvidence) => Promise<ReadCheck>;

const score = (rules: readonly CheckSetRule[], choose: ChooseFor): Promise<readonly ScoredRule[]> =>
  Promise.all(
    rules.map(async (one) => {
      const { id, rule, corrected, revised } = one;
      const outside = async () => historyOf(one, rules).filter(createOutsideTest(one));
      const result = await choose(one, { corrected, revised, outside, hasSecret });
      return result.ok ? scoreRule(one, result.check, slow.ask) : { id, rule, why: result.why, verdicts: [] };
    }),
  );

/** Fixed, so that the same set gives the same prompts. */
const MARK = 'm7f3';

/** The replies of a model to the prompts of `--write-prompts`, as the product would read them. */
function readReplies(file: string): ReadonlyMap<string, readonly CheckDraft[]> {
  const rows = readFileSync(file, 'utf8').split('\n').map(parseJson).filter(isObject);
  return new Map(
    rows.map(({ id, reply }): [string, readonly CheckDraft[]] => {
      const json = findJson(asString(reply) ?? '');
      const drafts = json.ok ? readCheckReply(json.value) : json;
      return [asString(id) ?? '', drafts.ok ? drafts.value : []];
    }),
  );
}

const isAccepted = ({ check }: ScoredRule): boolean => check?.standing === 'accepted';

const runCheckOf = (check: RuleCheck, work: CheckedWork) => runWholeCheck(check, work, slow.ask);

/** As in the product: a model is asked where the words gave no accepted check, and only a better one takes its place. */
async function addReplies(
  words: readonly ScoredRule[],
  rules: readonly CheckSetRule[],
  replies: ReadonlyMap<string, readonly CheckDraft[]>,
): Promise<readonly ScoredRule[]> {
  const drafted = await score(rules, (rule, evidence) => {
    const drafts = replies.get(rule.id) ?? [];
    if (!isJudged) return chooseCheck(drafts, evidence);
    return chooseCheck([...drafts, draftJudge(rule)], { ...evidence, ask: runCheckOf });
  });
  return words.map((rule, index) => {
    const other = drafted[index];
    if (other?.check === undefined || isAccepted(rule)) return rule;
    return rule.check === undefined || isAccepted(other) ? other : rule;
  });
}

/** The rules that a model would be asked about. */
function askedOf(rules: readonly CheckSetRule[], words: readonly ScoredRule[]): readonly CheckSetRule[] {
  const accepted = new Set(words.filter(isAccepted).map(({ id }) => id));
  return rules.filter(({ id }) => !accepted.has(id));
}

/** Asks about every answer of the rules that only a judge could check, whatever it says of the two that prove it. */
async function askJudge(rules: readonly CheckSetRule[], scored: readonly ScoredRule[]): Promise<void> {
  const open = askedOf(rules, scored).filter(({ corrected }) => corrected !== undefined);
  for (const rule of open) {
    const { check } = draftJudge(rule);
    const whole = { ...check, standing: 'provisional', proof: 'not tested yet' } as const;
    const works = [rule.corrected, rule.revised, ...rule.items.map(({ work }) => work)];
    for (const work of works) if (work !== undefined) await runCheckOf(whole, work);
  }
}

function promptOf(rule: CheckSetRule): string {
  const { system, user } = writeCheckQuestion(rule, MARK);
  return JSON.stringify({ id: rule.id, system, user });
}

const percent = (value: number): string => (Number.isNaN(value) ? '–' : `${(100 * value).toFixed(1)} %`);
const shown = ({ count, of, share, low, high }: IntervalShare): string =>
  `${percent(share)} (${count}/${of}, ${percent(low)} to ${percent(high)})`;

function printScore(name: string, score: CheckScore): void {
  process.stdout.write(
    [
      `${name}:`,
      `  rules with a check        ${shown(score.rules)}`,
      `  precision of verdicts     ${shown(score.precision)}`,
      `    with harmless as wrong  ${shown(score.strictPrecision)}`,
      `  violations found          ${shown(score.brokenRecall)}`,
      `  kept found                ${shown(score.keptRecall)}`,
      `  "kept" of innocent work   ${shown(score.keptInnocent)}`,
      '',
    ].join('\n'),
  );
}

function printRules(scored: readonly ScoredRule[]): void {
  for (const { id, rule, check, why, verdicts } of scored) {
    process.stdout.write(
      `${id} ${rule}\n  ${check === undefined ? `no check: ${why}` : `${check.standing}: ${describeCheck(check)}`}\n`,
    );
    for (const { kind, result } of verdicts) {
      const right = { violating: 'broken', keeping: 'kept', innocent: 'does-not-apply' }[kind];
      if (result.outcome === right) continue;
      const isWrong =
        result.outcome !== 'does-not-apply' && !(kind === 'innocent' && result.outcome === 'kept');
      process.stdout.write(
        `    ${isWrong ? 'WRONG' : '     '} ${kind} is ${result.outcome}${result.outcome === 'broken' ? `: ${result.quote ?? ''}` : ''}\n`,
      );
    }
  }
}

const prompts: string[] = [];
async function reportOn(file: string) {
  const told = parseCheckSet(readFileSync(file, 'utf8'), file);
  const rules = options.feedback ? told.map(({ revised, ...one }) => one) : told;
  requireSome('rule in the set', rules.length);
  const words = await score(rules, checkFromWords);
  const asked = askedOf(rules, words);
  prompts.push(...asked.map(promptOf));
  const ways: (readonly [way: string, scored: readonly ScoredRule[]])[] = [['words', words]];
  if (options.replies !== undefined) {
    const replies = readReplies(options.replies);
    const answered = asked.filter(({ id }) => replies.has(id)).length;
    requireSome('reply to a rule without an accepted check', answered);
    const more = await addReplies(words, rules, replies);
    if (options['write-judge'] !== undefined) await askJudge(rules, more);
    ways.push([`words, then the model's replies (${answered} of ${asked.length} asked)`, more]);
  }
  return ways.map(([way, scored]) => {
    const accepted = summarizeChecks(scored, ['accepted']);
    const all = summarizeChecks(scored, ['accepted', 'provisional']);
    requireSome('verdict', all.precision.of);
    return { file, way, rules: rules.length, accepted, all, scored };
  });
}
const reports = (await Promise.all(options.set.map(reportOn))).flat();
if (options['write-judge'] !== undefined) writeFileSync(options['write-judge'], judge.questions());
if (options['write-prompts'] !== undefined)
  writeFileSync(options['write-prompts'], `${prompts.join('\n')}\n`);
if (options.json) {
  const plain = reports.map(({ scored, ...report }) => ({
    ...report,
    checks: scored.map(({ verdicts, ...rule }) => rule),
  }));
  process.stdout.write(`${JSON.stringify(plain, undefined, 2)}\n`);
} else
  for (const { file, way, accepted, all, scored } of reports) {
    if (options.rules) printRules(scored);
    process.stdout.write(`\n${file}, checks from ${way}\n`);
    printScore('accepted checks', accepted);
    printScore('accepted and provisional checks', all);
  }
