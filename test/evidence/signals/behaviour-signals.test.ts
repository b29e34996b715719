import { describe, expect, it } from 'vitest';
import type { TurnEvidence } from '../../../src/core/evidence.ts';
import { appraise } from '../../../src/evidence/appraise.ts';
import { resultMark } from '../../../src/evidence/signals/tool-signals.ts';
import { callOf, turnOf } from '../turn-fixtures.ts';

const names = (evidence: TurnEvidence): readonly string[] =>
  appraise(evidence).signals.map(({ name }) => name);
const verdict = (evidence: TurnEvidence) => appraise(evidence).verdict;
const call = (
  name: string,
  given: unknown,
  result = '',
  failed = false,
): TurnEvidence['earlier'][number] => ({
  name,
  arguments: JSON.stringify(given),
  failed,
  result: resultMark(result),
});

describe('the same call again and again', () => {
  const grep = { pattern: 'parseDate', path: 'src' };
  const hit = 'src/date.ts:3: export function parseDate';
  const three = [call('Grep', grep, hit), call('Grep', grep, hit), call('Grep', grep, hit)];

  it('is a loop when nothing changed and nothing new came back', () => {
    const turn = callOf('Grep', grep, hit, { earlier: three });
    expect(names(turn)).toContain('repeated');
    expect(verdict(turn)).toBe('failure');
  });

  it.each([
    ['Codex', 'shell', { command: ['bash', '-lc', 'node scripts/report.js'] }],
    ['OpenCode', 'bash', { command: 'node scripts/report.js', description: 'Runs the report' }],
    ['Cline', 'execute_command', { command: 'node scripts/report.js', requires_approval: false }],
    ['an MCP server', 'mcp__crm__customer_by_mail', { email: 'a@example.org' }],
  ])('is found in the shape of %s, the third time (not the second)', (_client, name, given) => {
    const out = 'rows: 0\nExit code: 0';
    const once = call(name, given, out);
    expect(names(callOf(name, given, out, { earlier: [once, once] }))).toContain('repeated');
    expect(names(callOf(name, given, out, { earlier: [once] }))).not.toContain('repeated');
  });

  it('is none when the time of day is all that differs (it is the same result)', () => {
    const given = { command: 'node scripts/report.js' };
    const earlier = ['10:01:02', '10:03:44'].map((at) => call('bash', given, `${at} rows: 0 (took 31 ms)`));
    expect(names(callOf('bash', given, '10:05:59 rows: 0 (took 28 ms)', { earlier }))).toContain('repeated');
  });

  it('is no loop when the result changes, or the agent changed something in between', () => {
    const given = { command: 'node scripts/report.js' };
    const growing = [call('bash', given, 'rows: 1'), call('bash', given, 'rows: 2')];
    expect(names(callOf('bash', given, 'rows: 3', { earlier: growing }))).not.toContain('repeated');
    const edited = [
      call('bash', given, 'rows: 0'),
      call('edit', { filePath: 'src/a.ts', oldString: 'a', newString: 'b' }, 'ok'),
      call('bash', given, 'rows: 0'),
    ];
    expect(names(callOf('bash', given, 'rows: 0', { earlier: edited }))).not.toContain('repeated');
  });

  it.each([
    ['a job that runs', 'Bash', { command: 'sleep 30 && cat build.log' }],
    ['a deployment', 'bash', { command: 'kubectl get pods -n shop' }],
    ['a background shell', 'BashOutput', { bash_id: 'b1' }],
    ['a running process', 'write_stdin', { session_id: 4, chars: '' }],
  ])('is polling for %s (no loop)', (_what, name, given) => {
    const same = call(name, given, 'still running');
    const turn = callOf(name, given, 'still running', { earlier: [same, same, same, same] });
    expect(names(turn)).not.toContain('repeated');
  });

  it('lets a file be read three times', () => {
    const given = { file_path: '/app/src/cart.ts' };
    const same = call('Read', given, 'export const a = 1;');
    expect(names(callOf('Read', given, 'export const a = 1;', { earlier: [same, same] }))).not.toContain(
      'repeated',
    );
  });
});

describe('a request that comes again', () => {
  const asked = (task: string, user: string, more: Partial<TurnEvidence> = {}) =>
    turnOf({
      task,
      reply: [{ type: 'text', text: 'The export has a header now.' }],
      next: { tools: [], user },
      ...more,
    });

  it.each([
    ['word for word', 'Fix the header of the CSV export', 'Fix the header of the CSV export'],
    ['in other case', 'fix the csv export header', 'Fix the CSV export header!'],
    ['politely', 'Fix the header of the CSV export', 'please fix the CSV export header'],
    ['in German', 'Korrigiere die Kopfzeile im CSV-Export', 'Korrigiere bitte die Kopfzeile im CSV-Export'],
    ['in Chinese', '修复导出文件的表头', '请修复导出文件的表头'],
    [
      'with what the client adds',
      'Fix the header of the CSV export',
      '<system-reminder>\nToday is Monday and the tree is clean, nothing to do.\n</system-reminder>\nFix the header of the CSV export',
    ],
  ])('%s is a weak failure', (_how, task, user) => {
    expect(names(asked(task, user))).toContain('asked-again');
    expect(verdict(asked(task, user))).toBe('failure');
  });

  it.each([
    ['another file', 'Fix the types in src/cart.ts', 'Fix the types in src/order.ts'],
    ['another number', 'Round the total to 2 digits', 'Round the total to 3 digits'],
    [
      'a condition more',
      'Fix the header of the CSV export',
      'Fix the header of the CSV export without a new dependency',
    ],
    ['the next part', 'Add tests for the cart', 'Add tests for the orders and invoices too'],
    ['a routine', 'run the unit tests please', 'run the unit tests please'],
    ['a word to go on', 'continue with the plan', 'continue with the plan'],
    ['something new', 'Fix the header of the CSV export', 'Now write the changelog entry for it'],
    ['thanks', 'Fix the header of the CSV export', 'thanks, the header of the CSV export is fixed'],
    ['a schedule', 'Read HEARTBEAT.md and follow it strictly', 'Read HEARTBEAT.md and follow it strictly'],
  ])('is none when it is %s', (_what, task, user) => {
    expect(names(asked(task, user))).not.toContain('asked-again');
  });

  it('says nothing when the agent had asked back, was cut off, or the message is a repeated one anyway', () => {
    const task = 'Fix the header of the CSV export';
    const question = asked(task, task, { reply: [{ type: 'text', text: 'Which of the two exports?' }] });
    expect(names(question)).not.toContain('asked-again');
    expect(verdict(asked(task, task, { status: 'upstream-error' }))).toBe('infrastructure');
    expect(names(asked(task, task, { askedBefore: 3 }))).not.toContain('asked-again');
  });

  it('does not outweigh passing tests', () => {
    const task = 'Fix the header of the CSV export';
    const turn = callOf('Bash', { command: 'npm test' }, 'Exit code: 0\n Tests  12 passed (12)', { task });
    const next = { tools: turn.next?.tools ?? [], user: task };
    expect(verdict({ ...turn, next })).toBe('success');
  });
});

describe('an edit that is undone', () => {
  const before = "const rate = prices['eur'] ?? 1;";
  const after = 'const rate = lookUpRate(prices);';
  const edit = call('Edit', { file_path: '/app/src/rate.ts', old_string: before, new_string: after }, 'ok');
  const done = (user: string | undefined, more: Partial<TurnEvidence> = {}, calls?: TurnEvidence['next']) =>
    turnOf({
      task: 'Tidy up the rates',
      reply: [{ type: 'text', text: 'Done.' }],
      earlier: [edit],
      next: { tools: [], ...(user === undefined ? {} : { user }), ...calls },
      ...more,
    });

  it.each([
    'undo that',
    'Please revert this.',
    'no, roll back your last change',
    'revert the last commit',
    "can you put it back how it was? i don't like it",
    'I reverted your changes, we need the fallback',
    'git checkout -- src/rate.ts',
    'restore the old version please',
    'Mach das bitte rückgängig',
    'deshazlo, por favor',
    'annule ça',
    '把刚才的修改撤销',
    'discard those changes and leave the file alone',
  ])('is a failure when the user says "%s"', (user) => {
    expect(names(done(user))).toContain('reverted');
    expect(verdict(done(user))).toBe('failure');
  });

  it.each([
    'Add an undo button to the editor',
    'write a rollback command for the migrations',
    'Now do the same for src/tax.ts',
    'how does git revert work?',
    'revert button should be grey',
  ])('is not meant by "%s"', (user) => {
    expect(names(done(user))).not.toContain('reverted');
  });

  it('needs an edit (there is nothing to undo in an answer)', () => {
    expect(names(done('undo that', { earlier: [] }))).not.toContain('reverted');
  });

  it("is seen in the user's own shell, for the agent's file (not for another)", () => {
    const ran = (command: string) => `<bash-input>${command}</bash-input>\n<bash-stdout></bash-stdout>`;
    expect(names(done(ran('git checkout -- src/rate.ts')))).toContain('reverted');
    expect(names(done(ran('git restore .')))).toContain('reverted');
    expect(names(done(ran('git checkout -- docs/a.md')))).not.toContain('reverted');
    expect(names(done(ran('git checkout main')))).not.toContain('reverted');
  });

  it('is seen when the client shows the file with the old text again (not with the new one)', () => {
    const shown = (line: string) =>
      `<system-reminder>\nNote: /app/src/rate.ts was modified by the user. Here are the lines now:\n  12\t${line}\n  13\treturn rate;\n</system-reminder>\nnow add the tax`;
    expect(names(done(shown(before)))).toContain('reverted');
    expect(names(done(shown(after)))).not.toContain('reverted');
  });

  it.each([
    [
      'git',
      { name: 'shell', arguments: JSON.stringify({ command: ['git', 'checkout', '--', 'src/rate.ts'] }) },
    ],
    [
      'the opposite edit',
      {
        name: 'Edit',
        arguments: JSON.stringify({ file_path: '/app/src/rate.ts', old_string: after, new_string: before }),
      },
    ],
  ])('is seen when the agent restores the file with %s in the next turn', (_how, following) => {
    const turn = done('hmm, the old way was clearer to me', {}, { tools: [], calls: [following] });
    expect(names(turn)).toContain('reverted');
  });

  it('is a weaker sign when the agent gives up its own attempt', () => {
    const edited = callOf(
      'Edit',
      { file_path: '/app/src/rate.ts', old_string: before, new_string: after },
      'ok',
    );
    const calls = [{ name: 'Bash', arguments: JSON.stringify({ command: 'git checkout -- src/rate.ts' }) }];
    const turn = { ...edited, next: { tools: edited.next?.tools ?? [], calls } };
    const signal = appraise(turn).signals.find(({ name }) => name === 'reverted');
    expect(signal).toMatchObject({ score: 0.2, weight: 0.8 });
    expect(verdict(turn)).toBe('failure');
  });
});

it('behaviour is read in linear time from hostile messages', () => {
  for (const part of ['undo ', '<bash-input>', 'a ', '修', 'git checkout -- ', '"', '{"a":'])
    expect(() =>
      appraise(turnOf({ task: part.repeat(2 ** 17), next: { tools: [], user: part.repeat(2 ** 17) } })),
    ).not.toThrow();
});
