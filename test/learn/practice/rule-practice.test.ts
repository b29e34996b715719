import { describe, expect, it, onTestFinished } from 'vitest';
import { createAttemptFolders } from '../../../src/agent/attempts/attempt-folders.ts';
import type { RuleCheck } from '../../../src/core/check.ts';
import type { AttemptOrder, PracticeTask } from '../../../src/core/practice.ts';
import type { VerifierRow } from '../../../src/core/verifier-row.ts';
import { createTaskVerifier } from '../../../src/evidence/verifiers/verify-task.ts';
import { domainOf } from '../../../src/evidence/verify-session.ts';
import { createSlowTests } from '../../../src/learn/checks/slow-tests.ts';
import { rootOf, splitOf } from '../../../src/learn/practice/sources/split.ts';
import { findTaskCheck, withRuleChecks } from '../../../src/learn/rule-checks.ts';
import { attemptsWith, orderOf, scriptOf } from '../../agent/attempts/orders.ts';
import { ruleCheck } from '../../lessons/checks/make-check.ts';
import { lesson } from '../../lessons/recall/sample-lessons.ts';
import { lessonText } from '../../support/lesson-text.ts';
import { openScripted } from './open-scripted.ts';
import { goodReply, scriptedModel } from './scripted-practice.ts';
import { createRecordedWork, type RecordedWork } from './sources/recorded-work.ts';

const ISO = ruleCheck({
  appliesWhen: [{ is: 'pattern', pattern: '\\d{4}-\\d{2}-\\d{2}|\\d{1,2} Nov \\d{4}' }],
  holdsWhen: [{ is: 'pattern', pattern: '\\d{1,2} Nov \\d{4}', max: 0 }],
});
const KEEPS = 'The daily amounts of 2026-11-17, checked line by line for daily.';
const BREAKS = 'The amounts of 17 Nov 2026, and daily are listed without a currency sign.';
const AVOIDS = 'There is nothing to report about daily.';

/** A silent session of the user: nobody corrected or rated it. Returns its words. */
async function recordReport(work: RecordedWork, session: string, answer = BREAKS): Promise<string> {
  work.record(`${session}-probe`, [{ user: 'hello' }, { agent: 'hello' }]);
  const domain = await domainOf(`${session}-probe`, work.records);
  const words = Array.from({ length: 60 }, (_, nth) => `Write the daily report of shop ${nth} as a table`);
  const prompt = words.find((one) => splitOf(rootOf(domain, one)) === 'learn') ?? '';
  work.record(session, [{ user: prompt }, { agent: answer }]);
  return prompt;
}

const NO_SLOW_TESTS = () => async () => ({ answer: 'undecided' }) as const;

interface Practised {
  readonly tasks: readonly PracticeTask[];
  /** What the learning model was asked, by stage. */
  readonly asked: readonly { readonly stage: string; readonly user: string }[];
}

/** One session of practice with this rule and these replies of the attempts, in turn. */
async function practiseWith(
  { check, member }: { readonly check: RuleCheck; readonly member?: string },
  replies: readonly string[],
): Promise<Practised> {
  const work = createRecordedWork();
  await recordReport(work, 's');
  const model = scriptedModel(goodReply);
  const orders: AttemptOrder[] = [];
  const { make } = attemptsWith(scriptOf(...replies), {
    verify: withRuleChecks(createTaskVerifier({}), NO_SLOW_TESTS),
  });
  const attempt = (order: AttemptOrder, signal: AbortSignal) => {
    orders.push(order);
    return make(order, signal);
  };
  const { command, finish, lessons } = await openScripted({}, { ...work, model, attempt });
  const text = lessonText({
    name: 'iso-dates',
    description: '"Use ISO dates in reports"',
    content: 'The user said so.',
    note: { source: 'told' },
    scope: member === undefined ? {} : { member },
  });
  await lessons.library.publish({
    id: 'told',
    reason: 'told',
    by: { kind: 'person', name: 'ada' },
    changes: [{ op: 'add', id: 'iso', kind: 'skill', state: 'live', text, check }],
  });
  await command('run', { kind: 'exploratory' });
  await finish();
  return { tasks: orders.map(({ task }) => task), asked: model.asked };
}

describe('practice where nobody configured a verifier', () => {
  it("grades attempts at a silent session's task by the rule that its person told, and says what broke it", async () => {
    const { tasks, asked } = await practiseWith({ check: ISO }, [BREAKS, KEEPS, AVOIDS]);
    expect(tasks[0]).toMatchObject({ origin: 'mined', check: { kind: 'rules', rules: [{ lesson: 'iso' }] } });
    expect(asked.filter(({ stage }) => stage === 'compare')).toEqual([]);
    const compared = asked.find(({ stage }) => stage === 'advantage')?.user ?? '';
    expect(compared).toContain('broke “Use ISO dates in reports”: The amounts of 17 Nov 2026');
    expect(compared).toContain('kept “Use ISO dates in reports”');
    // Never rewarded for avoiding the subject.
    expect(compared).not.toContain(AVOIDS);
  });

  it('compares attempts as before where a rule applies to fewer than two of them', async () => {
    const { asked } = await practiseWith({ check: ISO }, [AVOIDS, `${AVOIDS} Really.`, KEEPS]);
    expect(asked.some(({ stage }) => stage === 'compare')).toBe(true);
  });

  it('takes no task for a provisional check, or for a rule of another key', async () => {
    for (const rule of [
      { check: { ...ISO, standing: 'provisional' as const } },
      { check: ISO, member: 'k_0123456789' },
    ])
      expect((await practiseWith(rule, [BREAKS, KEEPS, AVOIDS])).tasks).toEqual([]);
  });
});

describe('an attempt that rules grade', () => {
  it('is graded by the commands that it ran', async () => {
    const check = ruleCheck({
      looksAt: 'commands',
      appliesWhen: [{ is: 'program', run: 'npm|pnpm' }],
      holdsWhen: [{ is: 'program', run: 'npm', max: 0 }],
    });
    const verify = withRuleChecks(createTaskVerifier({}), NO_SLOW_TESTS);
    const grade = async (command: string) => {
      const call = {
        type: 'tool-call' as const,
        id: 'c',
        name: 'run_command',
        arguments: JSON.stringify({ command }),
      };
      const { task } = orderOf({
        check: { kind: 'rules', rules: [{ lesson: 'p', rule: 'Use pnpm', check }] },
      });
      const messages = [
        { role: 'user' as const, content: [{ type: 'text' as const, text: task.prompt }] },
        { role: 'assistant' as const, content: [call] },
      ];
      const submission = { task: task.prompt, domain: task.domain, output: 'Done.', messages };
      return verify(task, submission, new AbortController().signal);
    };
    expect(await grade('npm test')).toMatchObject({ reward: 0, reasons: ['broke “Use pnpm”: npm test'] });
    expect(await grade('pnpm test')).toMatchObject({ reward: 1 });
    expect(await grade('ls')).toEqual({ status: 'does-not-apply' });
  });

  it('is graded by a command of its person, in a sandbox with the files that it wrote', async () => {
    const folders = createAttemptFolders();
    onTestFinished(() => folders.close());
    const check = ruleCheck({
      looksAt: 'files',
      by: 'person',
      holdsWhen: [{ is: 'command', command: '! grep -n "print(" *.py' }],
    });
    const verify = withRuleChecks(
      createTaskVerifier({}),
      (signal) =>
        createSlowTests({ sandbox: (files, stop) => folders.open({ kind: 'files', files }, stop), signal })
          .ask,
    );
    const { task } = orderOf({ check: { kind: 'rules', rules: [{ lesson: 'p', rule: 'No print', check }] } });
    const grade = (name: string, content: string) => {
      const call = {
        type: 'tool-call' as const,
        id: 'c',
        name,
        arguments: JSON.stringify({ path: 'a.py', content }),
      };
      const messages = [
        { role: 'user' as const, content: [{ type: 'text' as const, text: task.prompt }] },
        { role: 'assistant' as const, content: [call] },
      ];
      const submission = { task: task.prompt, domain: task.domain, output: 'Done.', messages };
      return verify(task, submission, new AbortController().signal);
    };
    expect(await grade('write_file', 'print(1)')).toMatchObject({ status: 'ok', reward: 0 });
    expect(await grade('write_file', 'x = 1')).toMatchObject({ status: 'ok', reward: 1 });
    expect(await grade('read_file', 'x = 1')).toEqual({ status: 'does-not-apply' });
  });
});

describe('what grades a task', () => {
  const rule = lesson('iso', { check: ISO, note: { source: 'told' } });
  const grader = async (task: Partial<PracticeTask>, verifiers: readonly VerifierRow[] = []) => {
    const work = createRecordedWork();
    const [turn = ''] = work.record('s', [{ user: 'Write the daily report' }, { agent: BREAKS }]);
    const from = { session: 's', turn };
    const parts = { lessons: () => [rule], verifiers, records: work.records, decodeTurn: work.decodeTurn };
    return (await findTaskCheck({ ...orderOf().task, from, ...task }, false, parts))?.kind;
  };

  it("is its own check, then the owner's verifier, then the rules, then criteria that a remark suggests", async () => {
    const verifiers = [{ domain: '*', kind: 'regex', pattern: 'x' }] as const;
    const criteria = [{ text: 'as the user said' }];
    expect(await grader({ check: { kind: 'exact', expected: 'x' } }, verifiers)).toBe('exact');
    expect(await grader({}, verifiers)).toBe('regex');
    expect(await grader({})).toBe('rules');
    expect(await grader({ check: { kind: 'rubric', criteria }, isApproximate: true })).toBe('rules');
    expect(await grader({ check: { kind: 'rubric', criteria } })).toBe('rubric');
  });

  it('is a rule that the task is about, also where nothing of it was recorded', async () => {
    const gap: PracticeTask = { ...orderOf().task, origin: 'gap' };
    const parts = {
      lessons: () => [rule],
      verifiers: [],
      records: { turns: async () => [] },
      decodeTurn: async () => undefined,
    };
    expect(await findTaskCheck({ ...gap, about: ['iso'] }, false, parts)).toMatchObject({ kind: 'rules' });
    expect(await findTaskCheck(gap, false, parts)).toBeUndefined();
  });
});
