import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PolicyReply } from '../../../src/core/training.ts';
import { readChatReply } from '../../../train/policy/chat-template.ts';
import { runsOf } from '../../support/counts.ts';
import { TOOL } from './models.ts';

const read = (text: string, isThinking = false): PolicyReply =>
  readChatReply({ text, isThinking, tools: [TOOL] });
const call = (given: string, name = 'run_command') => ({ name, arguments: given });

describe('a reply', () => {
  it('is read without its thoughts, wherever they were opened, and with the rest of its text', () => {
    expect(read('<think>\nhm\n</think>\n\nDone.').text).toBe('Done.');
    expect(read('hm\n</think>Done.').text).toBe('Done.');
    expect(read('A <think>b</think> c <think>d</think> e').text).toBe('A  c  e');
    expect(read('<think>cut off').text).toBe('');
    expect(read('hm</think> Done.', true).text).toBe('Done.');
    expect(read('Done.').text).toBe('Done.');
  });

  it('has calls in tags, several of them, and the text around', () => {
    const one = '<tool_call>\n{"name": "run_command", "arguments": {"command": "ls"}}\n</tool_call>';
    expect(read(`I look.\n${one}`)).toEqual({ text: 'I look.', calls: [call('{"command": "ls"}')] });
    expect(read(one + one).calls).toHaveLength(2);
    expect(read(`<tool_call>{"name": "other", "arguments": "{\\"a\\": 1}"}`).calls).toEqual([
      call('{"a": 1}', 'other'),
    ]);
    expect(read('<tool_call>{"name": "run_command"}</tool_call>').calls).toEqual([call('{}')]);
  });

  it('keeps the arguments as they were written, digits and spaces', () => {
    const given = '{"a": 12345678901234567890, "b": 1.0, "c": "}\\"{"}';
    expect(read(`<tool_call>{"arguments": ${given}, "name": "run_command"}</tool_call>`).calls).toEqual([
      call(given),
    ]);
    expect(read(`{"name": "run_command", "parameters": ${given}}`).calls).toEqual([call(given)]);
  });

  it('passes on a call with broken JSON, and treats one without a name as text', () => {
    expect(read('<tool_call>{"name": "run_command", "arguments": {"command": "l').calls).toEqual([
      call('{"command": "l'),
    ]);
    expect(read('<tool_call>{"name": "run_command", "arguments": {"a": tru}}</tool_call>').calls).toEqual([
      call('{"a": tru}'),
    ]);
    expect(read('a <tool_call>nothing</tool_call> b')).toEqual({
      text: 'a <tool_call>nothing</tool_call> b',
      calls: [],
    });
  });

  it('is a call when it is only JSON that names an offered tool, else an answer in JSON', () => {
    expect(read('<|python_tag|>{"name": "run_command", "parameters": {"command": "a"}}').calls).toEqual([
      call('{"command": "a"}'),
    ]);
    const two = '{"name": "run_command", "parameters": {}}; {"name": "run_command", "parameters": {}}';
    expect(read(two)).toEqual({ text: '', calls: [call('{}'), call('{}')] });
    expect(read('[TOOL_CALLS] [{"name": "run_command", "arguments": {"command": "a"}}]').calls).toEqual([
      call('{"command":"a"}'),
    ]);
    for (const answer of ['{"name": "Ann", "parameters": {}}', '{"a": 1}', '[1, 2]', '[]', '{"name":', '""'])
      expect(read(answer)).toEqual({ text: answer, calls: [] });
  });

  it('has calls with parameters in tags, read as the tool declares them', () => {
    const text =
      '<tool_call>\n<function=run_command>\n<parameter=command>\n12\n</parameter>\n<parameter=timeout>\n5\n</parameter>\n</function>\n</tool_call>';
    expect(read(text).calls).toEqual([call('{"command":"12","timeout":5}')]);
  });

  it('has no calls when no tool was offered', () => {
    const text = '<tool_call>{"name": "run_command", "arguments": {}}</tool_call>';
    expect(readChatReply({ text, isThinking: false, tools: [] })).toEqual({ text, calls: [] });
  });

  it('can be any text, and every character of it is used at most once', () => {
    const pieces = fc.constantFrom(
      '<tool_call>',
      '</tool_call>',
      '<think>',
      '</think>',
      '{"name": "run_command", "arguments": {"x": ',
      '<tool_call>{"name": "run_command", "arguments": {"x": 1}}</tool_call>',
      '"',
      '}}',
      '[',
      '<function=f>',
      '<parameter=p>',
      '\\',
      ' ',
    );
    let calls = 0;
    fc.assert(
      fc.property(fc.array(fc.oneof(pieces, fc.string({ maxLength: 4 })), { maxLength: 14 }), (parts) => {
        const reply = read(parts.join(''));
        calls += reply.calls.length;
        expect(reply.text.length).toBeLessThanOrEqual(parts.join('').length);
      }),
      runsOf(170, 500),
    );
    expect(calls).toBeGreaterThan(5);
  });
});
