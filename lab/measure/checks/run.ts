import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { asString, isObject, parseJson } from '../../../src/core/json.ts';
import { readCheckReply, writeCheckQuestion } from '../../../src/learn/checks/check-question.ts';
import { findJson, withoutReasoning } from '../../../src/learn/find-json.ts';
import type { CheckDraft } from '../../../src/lessons/checks/accept-check.ts';
import { describeCheck } from '../../../src/lessons/checks/describe-check.ts';
import { chooseCheck, draftChecks, outsideOf } from '../../../src/lessons/checks/draft-check.ts';
import { openRedactor } from '../../../src/redact/open-redactor.ts';
import { requireSome } from '../measured.ts';
import { type CheckSetRule, parseCheckSet } from './check-set.ts';
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
    /** Writes what a model would be asked, JSONL {id, prompt}. */
    'write-prompts': { type: 'string' },
    /** Every rule with its check and its wrong verdicts. */
    rules: { type: 'boolean', default: false },
  },
});
const { hasSecret } = openRedactor();

/** Which drafts a rule has. */
type DraftsOf = (rule: CheckSetRule) => readonly CheckDraft[];

const score = (rules: readonly CheckSetRule[], draftsOf: DraftsOf): readonly ScoredRule[] =>
  rules.map((one) => {
    const { id, rule, corrected, revised } = one;
    const outside = outsideOf(one, historyOf(one, rules));
    const result = chooseCheck(draftsOf(one), { corrected, revised, outside, hasSecret });
    return result.ok ? scoreRule(one, result.check) : { id, rule, why: result.why, verdicts: [] };
  });

/** Recorded replies of a model to the prompts of `--write-prompts`, as the product would read them. */
function readReplies(file: string): ReadonlyMap<string, readonly CheckDraft[]> {
  const rows = readFileSync(file, 'utf8').split('\n').map(parseJson).filter(isObject);
  return new Map(
    rows.map(({ id, reply }): [string, readonly CheckDraft[]] => {
      const json = findJson(withoutReasoning(asString(reply) ?? '') ?? '');
      const drafts = 'fault' in json ? [] : readCheckReply(json.value);
      return [asString(id) ?? '', 'fault' in drafts ? [] : drafts];
    }),
  );
}

/** As in the product: a model is asked where the words gave no check with proof, and only a better one takes its place. */
function scoreModel(
  rules: readonly CheckSetRule[],
  replies: ReadonlyMap<string, readonly CheckDraft[]>,
): readonly ScoredRule[] {
  const words = score(rules, draftChecks);
  const asked = score(rules, ({ id }) => replies.get(id) ?? []);
  return words.map((rule, index) => {
    const other = asked[index];
    const isProven = rule.check?.standing === 'accepted';
    return !isProven &&
      other?.check !== undefined &&
      (rule.check === undefined || other.check.standing === 'accepted')
      ? other
      : rule;
  });
}

function writePrompts(file: string, rules: readonly CheckSetRule[]): void {
  const lines = rules.map((rule) => {
    const { system, user } = writeCheckQuestion(rule, 'm7f3');
    return JSON.stringify({ id: rule.id, prompt: `${system}\n\n${user}` });
  });
  writeFileSync(file, `${lines.join('\n')}\n`);
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

const reports = options.set.flatMap((file) => {
  const rules = parseCheckSet(readFileSync(file, 'utf8'), file);
  requireSome('rule in the set', rules.length);
  if (options['write-prompts'] !== undefined) writePrompts(options['write-prompts'], rules);
  const ways: (readonly [way: string, scored: readonly ScoredRule[]])[] = [
    ['words', score(rules, draftChecks)],
  ];
  if (options.replies !== undefined) {
    const replies = readReplies(options.replies);
    requireSome('reply to a rule of the set', rules.filter(({ id }) => replies.has(id)).length);
    ways.push(['words and recorded replies of a model', scoreModel(rules, replies)]);
  }
  return ways.map(([way, scored]) => {
    const accepted = summarizeChecks(scored, ['accepted']);
    const all = summarizeChecks(scored, ['accepted', 'provisional']);
    requireSome('verdict', all.precision.of);
    return { file, way, rules: rules.length, accepted, all, scored };
  });
});
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
