import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { describeCheck } from '../../../src/lessons/checks/describe-check.ts';
import { chooseCheck, draftChecks, outsideOf } from '../../../src/lessons/checks/draft-check.ts';
import { openRedactor } from '../../../src/redact/open-redactor.ts';
import { requireSome } from '../measured.ts';
import { type CheckSetRule, parseCheckSet } from './check-set.ts';
import {
  type CheckScore,
  historyOf,
  type ScoredRule,
  type Share,
  scoreRule,
  summarizeChecks,
} from './score-checks.ts';

/** How many rules get a check of their own, and whether its verdicts are right: our set, or any file of that format. */
const { values: options } = parseArgs({
  options: {
    set: { type: 'string', multiple: true, default: ['lab/measure/checks/sets/dev.jsonl'] },
    json: { type: 'boolean', default: false },
    /** Every rule with its check and its wrong verdicts. */
    rules: { type: 'boolean', default: false },
  },
});
const { hasSecret } = openRedactor();

const scoreWords = (rules: readonly CheckSetRule[]): readonly ScoredRule[] =>
  rules.map((one) => {
    const { rule, corrected, revised } = one;
    const outside = outsideOf(one, historyOf(one, rules));
    const result = chooseCheck(draftChecks(one), {
      corrected,
      revised,
      outside,
      hasSecret,
    });
    return result.ok ? scoreRule(one, result.check) : { id: one.id, rule, why: result.why, verdicts: [] };
  });

const percent = (value: number): string => (Number.isNaN(value) ? '–' : `${(100 * value).toFixed(1)} %`);
const shown = ({ count, of, share, low, high }: Share): string =>
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

const reports = options.set.map((file) => {
  const rules = parseCheckSet(readFileSync(file, 'utf8'), file);
  requireSome('rule in the set', rules.length);
  const scored = scoreWords(rules);
  const accepted = summarizeChecks(scored, ['accepted']);
  const all = summarizeChecks(scored, ['accepted', 'provisional']);
  requireSome('verdict', accepted.precision.of);
  return { file, way: 'words', rules: rules.length, accepted, all, scored };
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
