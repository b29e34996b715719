import { describe, expect, it } from 'vitest';
import { readConversationEvidence } from '../../../lab/measure/signals/conversation-evidence.ts';
import type { ChatMessage } from '../../../src/core/chat.ts';
import { appraise } from '../../../src/evidence/appraise.ts';
import { readTextResults } from '../../../src/evidence/turn-evidence.ts';

const verdictOf = (messages: readonly object[]): string =>
  appraise(readConversationEvidence({ id: 'c', messages: messages as never })).verdict;
const ask = { role: 'user', content: 'Fix the dates' };
const reply = (text: string) => ({ role: 'assistant', content: text });
const user = (content: string) => ({ role: 'user', content });

describe('a tool result that is written as a user message', () => {
  it('is read in the forms of Cline, aider and mini-SWE-agent (not as what the user said)', () => {
    const red = 'FAILED tests/test_a.py::test_x\n1 failed, 3 passed in 0.2s';
    expect(
      verdictOf([
        ask,
        reply('<execute_command>'),
        user(`[execute_command for 'pytest'] Result:\nCommand executed.\nOutput:\n${red}`),
      ]),
    ).toBe('failure');
    expect(
      verdictOf([
        ask,
        reply('Run it.'),
        user(`I ran this command:\n\npytest\n\nAnd got this output:\n\n${red}`),
      ]),
    ).toBe('failure');
    expect(
      verdictOf([
        ask,
        reply('```bash\npytest\n```'),
        user('<returncode>0</returncode>\n<output>\n4 passed in 0.2s\n</output>'),
      ]),
    ).toBe('success');
  });

  it('is none when a person quotes such a line', () => {
    expect(readTextResults("what does this mean?\n[execute_command for 'x'] Result:\nno")).toEqual([]);
    expect(readTextResults('Observation of mine: it is slow')).toEqual([]);
  });

  it('is not the task', () => {
    const { task } = readConversationEvidence({
      id: 'c',
      messages: [ask, reply('a'), user('<returncode>1</returncode>\n<output>x</output>'), reply('b')],
    });
    expect(task).toBe('Fix the dates');
  });
});

describe('the state in which an agent stops', () => {
  const call = (id: string, name: string, input: object) => ({
    role: 'assistant',
    content: [{ type: 'tool_use', id, name, input }],
  });
  const result = (id: string, content: string, is_error = false) => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, content, is_error }],
  });
  const edit = (id: string) => call(id, 'Edit', { file_path: 'a.ts', old_string: id, new_string: 'y' });
  const missed = (id: string) =>
    result(id, '<tool_use_error>String to replace not found in file.</tool_use_error>', true);
  const done = (id: string) => result(id, 'The file a.ts has been updated.');

  it('is a failure when the last edit was never made, whatever the reply claims', () => {
    expect(verdictOf([ask, edit('1'), missed('1'), reply('I have updated the file.')])).toBe('failure');
  });

  it('is no failure when a failed edit was corrected', () => {
    expect(verdictOf([ask, edit('1'), missed('1'), edit('2'), done('2'), reply('Done.')])).toBe('success');
    expect(verdictOf([ask, edit('1'), missed('1'), edit('2'), missed('2')])).toBe('failure');
  });

  it('is infrastructure after an outage, however impatient the user is', () => {
    const install = [
      call('1', 'Bash', { command: 'npm ci' }),
      result('1', 'Exit code 1\nnpm error code ETIMEDOUT', true),
    ];
    expect(verdictOf([ask, ...install, reply('The registry does not answer.')])).toBe('infrastructure');
  });
});

describe('a labelled conversation', () => {
  const forms: readonly (readonly [string, readonly object[]])[] = [
    [
      'chat completions',
      [
        ask,
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: '1', type: 'function', function: { name: 'bash', arguments: '{"command":"go vet"}' } },
          ],
        },
        { role: 'tool', tool_call_id: '1', content: 'bash: go: command not found' },
      ],
    ],
    [
      'chat completions with objects, without ids',
      [
        ask,
        { role: 'assistant', tool_calls: [{ function: { name: 'bash', arguments: { command: 'go vet' } } }] },
        { role: 'tool', content: 'bash: go: command not found', is_error: true },
      ],
    ],
    [
      'responses',
      [
        { type: 'message', role: 'user', content: 'x' },
        { type: 'function_call', call_id: '1', name: 'exec_command', arguments: '{"cmd":"go vet"}' },
        {
          type: 'function_call_output',
          call_id: '1',
          output: 'Process exited with code 127\nOutput:\nbash: go: command not found',
        },
      ],
    ],
    [
      'Gemini',
      [
        { role: 'user', parts: [{ text: 'x' }] },
        {
          role: 'model',
          parts: [{ functionCall: { name: 'run_shell_command', args: { command: 'go vet' } } }],
        },
        {
          role: 'user',
          parts: [
            {
              functionResponse: {
                name: 'run_shell_command',
                response: { output: 'Exit Code: 127\nbash: go: command not found' },
              },
            },
          ],
        },
      ],
    ],
  ];

  it.each(forms)('is read in the form of %s', (_, messages) => {
    expect(verdictOf(messages)).toBe('failure');
  });

  it('is judged by its last reply', () => {
    const first: ChatMessage['role'] = 'assistant';
    expect(
      verdictOf([
        ask,
        { role: first, content: 'A' },
        user('no, that is wrong'),
        reply('B'),
        user('thanks, perfect'),
      ]),
    ).toBe('success');
  });
});
