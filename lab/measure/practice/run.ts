import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { AssistantPart, ChatMessage } from '../../../src/core/chat.ts';
import type { CheckedWork } from '../../../src/core/check.ts';
import type { Lesson } from '../../../src/core/lesson.ts';
import type { PracticeTask } from '../../../src/core/practice.ts';
import type { DecodedTurn, TurnView } from '../../../src/core/store.ts';
import { createTaskVerifier } from '../../../src/evidence/verifiers/verify-task.ts';
import { findTaskCheck, withRuleChecks } from '../../../src/learn/rule-checks.ts';
import { checkFromWords, createOutsideTest } from '../../../src/lessons/checks/draft-check.ts';
import { openRedactor } from '../../../src/redact/open-redactor.ts';
import { type CheckSetRule, parseCheckSet } from '../checks/check-set.ts';
import { historyOf } from '../checks/score-checks.ts';
import { requireSome } from '../measured.ts';
import { taughtText } from '../plain-lesson.ts';

/*
 * Practice where nobody configured a verifier, with a scripted policy: its attempts are the labelled answers of a set of rules. Before,
 * nothing grades them; after, the checks of the rules do. Every rule is told by one person, whose recorded task is the corrected answer.
 */

/** Counts of one way to grade. */
interface GraderCounts {
  /** Tasks whose attempts can be graded, and all of them. */
  gradable: number;
  tasks: number;
  /** Attempts that keep or break the rule by their label: graded, graded as the label says, and all of them. */
  graded: number;
  right: number;
  attempts: number;
  /** Attempts that have nothing to do with the rule, and got a grade all the same. */
  innocent: number;
  /** Groups with both kinds of attempts, and the sum over them of the chance that the winner keeps the rule. */
  groups: number;
  winners: number;
}

const { signal } = new AbortController();
const verify = withRuleChecks(createTaskVerifier({}), () => async () => ({ answer: 'undecided' }));

/** Prints both ways side by side. Ends with 1 where nothing was measured. */
async function reportByRules(file: string): Promise<string> {
  const rules = parseCheckSet(readFileSync(file, 'utf8'), file);
  const lessons = (await Promise.all(rules.map((rule) => lessonOf(rule, rules)))).flat();
  requireSome('rule with an accepted check', lessons.length);
  const [before, after] = [await countGrades(rules, []), await countGrades(rules, lessons)];
  requireSome('attempt that a rule graded', after.graded);
  requireSome('group with better and worse attempts', after.groups);
  const row = (what: string, tell: (counts: GraderCounts) => string): string =>
    `| ${what} | ${tell(before)} | ${tell(after)} |`;
  return [
    `Practice without a verifier: ${rules.length} rules of ${file}, ${lessons.length} with an accepted check; scripted attempts with labels.`,
    '',
    '| | nothing grades | the rules grade |',
    '|---|---|---|',
    row('tasks that can be graded', ({ gradable, tasks }) => shareOf(gradable, tasks)),
    row('attempts graded', ({ graded, attempts }) => shareOf(graded, attempts)),
    row('grades that are right', ({ right, graded }) => shareOf(right, graded)),
    row('innocent attempts that were graded', ({ innocent }) => String(innocent)),
    row('groups won by an attempt that keeps the rule (by chance where none is graded)', (counts) =>
      shareOf(counts.winners, counts.groups),
    ),
  ].join('\n');
}

const shareOf = (count: number, all: number): string =>
  all === 0 ? 'none' : `${((100 * count) / all).toFixed(1)} % (${Math.round(count)} of ${all})`;

const { hasSecret } = openRedactor();

/** The rule as its person's lesson, where its words and its two answers give it an accepted check. */
async function lessonOf(one: CheckSetRule, rules: readonly CheckSetRule[]): Promise<readonly Lesson[]> {
  const { id, rule, corrected, revised } = one;
  const outside = async () => historyOf(one, rules).filter(createOutsideTest(one));
  const chosen = await checkFromWords(
    { rule, corrected, revised },
    {
      corrected,
      revised,
      outside,
      hasSecret,
    },
  );
  if (!chosen.ok || chosen.check.standing !== 'accepted') return [];
  return [
    {
      id,
      kind: 'skill',
      state: 'live',
      revision: 1,
      pinned: false,
      frozen: false,
      createdAt: 0,
      changedAt: 0,
      check: chosen.check,
      text: {
        ...taughtText(
          // One rule for each task: another rule of the set says nothing about its label.
          {
            name: id,
            description: `"${rule}"`,
            content: `The user said:\n\n> ${rule}`,
            scope: { agent: id },
          },
          { importance: 1, confidence: 1 },
        ),
        evidence: { turns: [], quotes: [], learner: 'distiller' },
      },
    },
  ];
}

async function countGrades(
  rules: readonly CheckSetRule[],
  lessons: readonly Lesson[],
): Promise<GraderCounts> {
  const counts: GraderCounts = {
    gradable: 0,
    tasks: 0,
    graded: 0,
    right: 0,
    attempts: 0,
    innocent: 0,
    groups: 0,
    winners: 0,
  };
  for (const rule of rules) if (rule.corrected !== undefined) await countTask(rule, lessons, counts);
  return counts;
}

async function countTask(
  { id, corrected, items }: CheckSetRule,
  lessons: readonly Lesson[],
  counts: GraderCounts,
): Promise<void> {
  if (corrected === undefined) return;
  const task = await openTask(id, corrected, lessons);
  counts.tasks++;
  if (task.check !== undefined) counts.gradable++;
  const rewards: { readonly keeps: boolean; readonly reward: number }[] = [];
  for (const { kind, work } of items) {
    const { before, reply } = conversationOf(work);
    const messages = [...before, { role: 'assistant' as const, content: reply }];
    const submission = { task: work.request, domain: task.domain, output: work.reply, messages };
    const grade = task.check === undefined ? undefined : await verify(task, submission, signal);
    const reward = grade?.status === 'ok' ? grade.reward : undefined;
    if (kind === 'innocent') {
      if (reward !== undefined) counts.innocent++;
      continue;
    }
    const keeps = kind === 'keeping';
    counts.attempts++;
    if (reward !== undefined) {
      counts.graded++;
      if (reward === (keeps ? 1 : 0)) counts.right++;
    }
    rewards.push({ keeps, reward: reward ?? Number.NaN });
  }
  const isMixed = rewards.some(({ keeps }) => keeps) && rewards.some(({ keeps }) => !keeps);
  if (!isMixed) return;
  counts.groups++;
  const graded = rewards.filter(({ reward }) => !Number.isNaN(reward));
  const best = Math.max(...graded.map(({ reward }) => reward));
  const winners = graded.length < 2 ? rewards : graded.filter(({ reward }) => reward === best);
  counts.winners += winners.filter(({ keeps }) => keeps).length / winners.length;
}

/** The task as practice opens it, mined from a session whose answer was the corrected one. */
async function openTask(
  id: string,
  corrected: CheckedWork,
  lessons: readonly Lesson[],
): Promise<PracticeTask> {
  const { before, reply } = conversationOf(corrected);
  const view: TurnView = {
    id: 't',
    session: 's',
    startedAt: 0,
    lessons: [],
    wire: 'openai-chat',
    agent: id,
    role: 'main',
    status: 'complete',
    model: 'scripted',
    policy: 'scripted',
    generation: 0,
    caller: 'person',
  };
  const request = { model: 'scripted', system: [], messages: before, tools: [], stream: false };
  const decoded: DecodedTurn = { view, request, reply, stop: 'end' };
  const task: PracticeTask = {
    id,
    root: id,
    origin: 'mined',
    prompt: corrected.request,
    domain: 'general',
    agent: id,
    from: { session: 's', turn: 't' },
  };
  const check = await findTaskCheck(task, false, {
    lessons: () => lessons,
    verifiers: [],
    records: { turns: async () => [view] },
    decodeTurn: async () => decoded,
  });
  return check === undefined ? task : { ...task, check };
}

/** The work as a client would have sent and received it. */
function conversationOf({ request, reply, files, commands }: CheckedWork): {
  readonly before: readonly ChatMessage[];
  readonly reply: readonly AssistantPart[];
} {
  const calls = [
    ...files.map(({ path, text }) => ['write_file', { path, content: text }] as const),
    ...commands.map((command) => ['bash', { command }] as const),
  ];
  return {
    before: [{ role: 'user', content: [{ type: 'text', text: request }] }],
    reply: [
      ...calls.map(
        ([name, given], at): AssistantPart => ({
          type: 'tool-call',
          id: `c${at}`,
          name,
          arguments: JSON.stringify(given),
        }),
      ),
      { type: 'text', text: reply },
    ],
  };
}

/** npm run bench:practice [-- --set FILE]: practice where nobody configured a verifier, by the checks of rules. */
const { values } = parseArgs({
  options: { set: { type: 'string', default: 'lab/measure/checks/sets/dev.jsonl' } },
});
process.stdout.write(`${await reportByRules(values.set)}\n`);
