import { describe, expect, it } from 'vitest';
import { readConversationEvidence } from '../../lab/measure/signals/conversation-evidence.ts';
import type { Appraisal } from '../../src/core/evidence.ts';
import { appraise } from '../../src/evidence/appraise.ts';
import { readOwnSentences } from '../../src/reader/own-sentences.ts';

type Blocks = string | readonly object[];
const user = (content: Blocks) => ({ role: 'user', content });
const reply = (content: Blocks) => ({ role: 'assistant', content });
const call = (name: string, input: object, id = 'c1') => ({ type: 'tool_use', id, name, input });
const result = (content: string, isError = false, id = 'c1') => ({
  type: 'tool_result',
  tool_use_id: id,
  content,
  ...(isError ? { is_error: true } : {}),
});
const text = (words: string) => ({ type: 'text', text: words });
const judge = (...messages: readonly object[]): Appraisal =>
  appraise(readConversationEvidence({ id: 'c', messages: messages as never }));
const ASK = user('Move the helpers into lib');
const EDIT = call('Edit', {
  file_path: 'lib/h.ts',
  old_string: 'export const a = 1;',
  new_string: 'const a = 1;',
});
const EDITED = 'The file lib/h.ts has been updated successfully.';

describe('a person who stops the agent', () => {
  it.each([
    ['Claude Code', '[Request interrupted by user]'],
    ['aider', '^C KeyboardInterrupt'],
    ['Codex', '<turn_aborted>\nThe user interrupted the previous turn on purpose.\n</turn_aborted>'],
  ])('has judged the answer, and teaches nothing (%s; it counted as an outage)', (_client, mark) => {
    const { verdict, correction, signals } = judge(ASK, reply('I rewrote all of lib.'), user(mark));
    expect(signals.map(({ name }) => name)).toContain('stopped');
    expect(verdict).toBe('failure');
    expect(correction).toBeUndefined();
  });

  it('is heard: what they say next corrects the answer (their words were taken for a complaint about an outage)', () => {
    const { verdict, source, correction } = judge(
      ASK,
      reply([EDIT]),
      user([
        result('[Request interrupted by user for tool use]', true),
        text('[Request interrupted by user for tool use]'),
        text('no, wrong folder, we keep helpers in src/helpers'),
      ]),
    );
    expect({ verdict, source }).toEqual({ verdict: 'failure', source: 'chat' });
    expect(correction?.quotes).toEqual(['no, wrong folder, we keep helpers in src/helpers']);
  });

  it('has said nothing about a call that was cut off without a word, nor when they send it on', () => {
    const cut = result('[Request interrupted by user for tool use]', true);
    expect(judge(ASK, reply([EDIT]), user([cut])).verdict).toBe('infrastructure');
    expect(judge(ASK, reply([EDIT]), user([cut, text('continue')])).verdict).toBe('infrastructure');
  });

  it('is not a document that quotes such a mark in a line', () => {
    const quoted = 'What does "[Request interrupted by user]" in a transcript mean?';
    expect(judge(ASK, reply('I moved them.'), user(quoted)).signals).not.toContainEqual(
      expect.objectContaining({ name: 'stopped' }),
    );
  });
});

describe('what a client says about an edit that was made', () => {
  const findings =
    '<system-reminder>\n<new-diagnostics>The following new diagnostic issues were detected:\n\nh.ts:\n  ✘ [Line 3:5] Cannot find name "foo". [2304] (typescript)</new-diagnostics>\n</system-reminder>';

  it('is a failed edit when it left errors, in its result or in a text beside it (not a success)', () => {
    const inside = judge(ASK, reply([EDIT]), user([result(`${EDITED}\n\n${findings}`)]));
    const beside = judge(ASK, reply([EDIT]), user([result(EDITED), text(findings)]));
    expect([inside.verdict, beside.verdict]).toEqual(['failure', 'failure']);
    expect(judge(ASK, reply([EDIT]), user([result(EDITED)])).verdict).toBe('success');
  });

  it('is a failed check where a hook blocks it', () => {
    const hook =
      '<system-reminder>\nPostToolUse:Edit hook blocking error from command: "npm run lint": lib/h.ts 3:5 error always use tabs\n</system-reminder>';
    const { verdict, correction } = judge(ASK, reply([EDIT]), user([result(EDITED), text(hook)]));
    expect(verdict).toBe('failure');
    expect(correction).toBeUndefined();
  });

  it('says that the person changed what it wrote', () => {
    const amended =
      'The user made the following updates to your content:\n\n@@ -1 +1 @@\n-a\n+b\n\nThe updated content has been successfully saved to a.ts.';
    const { verdict, correction } = judge(
      ASK,
      reply([call('write_to_file', { path: 'a.ts', content: 'a' })]),
      user([result(amended)]),
    );
    expect({ verdict, correction }).toEqual({ verdict: 'failure', correction: undefined });
  });
});

describe('the undoing of a change by the person', () => {
  it('is a failure of the change, whoever tells it', () => {
    const done = [ASK, reply([EDIT]), user([result(EDITED)]), reply('Moved.')];
    const aider = user(
      'I did `git reset --hard HEAD~1` to discard the last edits. Please wait for further instructions before attempting that change again.',
    );
    expect(judge(...done, aider).verdict).toBe('failure');
    expect(judge(...done, user('<bash-input>git checkout -- lib/h.ts</bash-input>')).verdict).toBe('failure');
    const codex =
      '<user_shell_command>\n<command>\ngit restore lib/h.ts\n</command>\n<result>\nExit code: 0\n</result>\n</user_shell_command>';
    expect(judge(...done, user(codex), user('now the tests')).verdict).toBe('failure');
    expect(judge(...done, user('git checkout . — did that myself now')).verdict).toBe('failure');
    expect(judge(...done, user('git checkout -b next, then go on')).verdict).not.toBe('failure');
  });
});

describe('what the person pastes after an answer', () => {
  const build = '$ npm run build\n> tsc\nsrc/a.ts(3,5): error TS2304: Cannot find name foo';

  it('is a failure where it is the output of a build, alone or behind a few words, and teaches nothing', () => {
    for (const message of [build, `hm, now this:\n\n${build}`]) {
      const { verdict, correction } = judge(ASK, reply('I moved them.'), user(message));
      expect({ verdict, correction }, message).toEqual({ verdict: 'failure', correction: undefined });
    }
  });

  it('is none where the agent asked for it, nor beside the next piece of work', () => {
    expect(judge(ASK, reply('What does the build say?'), user(`here it is:\n\n${build}`)).verdict).not.toBe(
      'failure',
    );
    const next = `Next, look into the nightly build of the other repository, which has failed since last week:\n\n${build}`;
    expect(judge(ASK, reply('I moved them.'), user(next)).verdict).not.toBe('failure');
  });

  it('is not praise: thanks for what an agent could have done by tools of its own gives no verdict', () => {
    const tools = [{ type: 'function', function: { name: 'cancel_order', parameters: { type: 'object' } } }];
    const messages = [user('Cancel order 7'), reply('It is cancelled.'), user('Thank you!')] as never;
    const evidence = readConversationEvidence({ id: 'c', tools, messages });
    expect(appraise(evidence).verdict).toBe('ambiguous');
    expect(judge(user('What is a monad?'), reply('A monoid.'), user('Thank you!')).verdict).toBe('success');
  });
});

describe('what stands inside a client’s frame', () => {
  const RULE = 'from now on always use tabs, never spaces';
  it.each([
    ['a denial by a rule', `Permission to use Edit has been denied. ${RULE}`],
    ['a hook', `PreToolUse:Edit hook error: [guard.py]: ${RULE}`],
    [
      'a rejection with the person’s reason',
      `The user doesn't want to proceed with this tool use. The tool use was rejected. To tell you how to proceed, the user said:\n${RULE}`,
    ],
    [
      'a language server',
      `${EDITED}\n\nLSP errors detected in this file, please fix:\n<diagnostics>\nERROR [1:1] ${RULE}\n</diagnostics>`,
    ],
    ['a changed edit', `The user made the following updates to your content:\n\n+${RULE}`],
    [
      'an error object',
      JSON.stringify({ status: 'error', message: 'The tool execution failed', error: RULE }),
    ],
    ['feedback in JSON', JSON.stringify({ status: 'denied', feedback: RULE })],
  ])('is never the person’s rule in the result of a tool: %s', (_what, output) => {
    const { correction, remark, signals } = judge(ASK, reply([EDIT]), user([result(output, true)]));
    expect({ correction, remark }).toEqual({ correction: undefined, remark: undefined });
    expect(signals.filter(({ source }) => source === 'chat')).toEqual([]);
  });

  it.each([
    ['a stop mark of Codex', `<turn_aborted>\n${RULE}\n</turn_aborted>`],
    ['hook feedback', `Stop hook feedback:\n- ${RULE}`],
    ['a reminder', `<system-reminder>\n${RULE}\n</system-reminder>`],
    [
      'a changed file',
      `<system-reminder>\nNote: a.ts was modified, either by the user or by a linter. ${RULE}\n</system-reminder>`,
    ],
    ['aider’s linter', `# Fix any errors below, if possible.\n\n## Running: lint\n${RULE}`],
    ['aider’s page', `Here is the content of https://a.dev:\n\n${RULE}`],
    [
      'a finished command of OpenClaw',
      `System: [2026-03-05 21:24:49 EST] Exec denied (gateway id=53ff, approval-timeout): ${RULE}`,
    ],
    [
      'a follow-up of OpenClaw',
      `An async command the user already approved has completed.\nDo not run the command again.\n\nExact completion details:\nExec finished (gateway id=53ff, code 0)\n${RULE}`,
    ],
    ['a skill', `Base directory for this skill: /home/u/.claude/skills/tabs\n\n# Tabs\n\n${RULE}`],
    ['a shell of OpenCode', `The following tool was executed by the user\n${RULE}`],
    ['a resource', `What is in this?\nReading MCP resource: rules (file:///r)\n${RULE}`],
    ['a background task', `<task-notification>\n<result>${RULE}</result>\n</task-notification>`],
    ['a file that Cline shows again', `<final_file_content path="a.ts">\n${RULE}\n</final_file_content>`],
  ])('is never the person’s rule in their own name: %s', (_what, message) => {
    const { correction, remark, signals } = judge(ASK, reply('I moved them.'), user(message));
    expect({ correction, remark }).toEqual({ correction: undefined, remark: undefined });
    expect(signals.filter(({ source }) => source === 'chat')).toEqual([]);
    // Nor in a message that opens a conversation.
    expect(
      readOwnSentences(message)
        .map(({ text: words }) => words)
        .join(' '),
    ).not.toContain(RULE);
  });

  it('ends where the person writes themselves', () => {
    expect(readOwnSentences('React hook error: always the same one.')).toHaveLength(1);
    const own = 'we keep helpers in src/helpers';
    for (const frame of ['<turn_aborted>\nOn purpose.\n</turn_aborted>\n', '[Request interrupted by user]\n'])
      expect(readOwnSentences(`${frame}${own}`).map(({ text: words }) => words)).toEqual([own]);
  });
});
