import { describe, expect, it } from 'vitest';
import type { ChatMessage } from '../../../src/core/chat.ts';
import { heldFiles } from '../../../src/evidence/tools/held-files.ts';

let calls = 0;
/** A call of a tool with its result. */
function used(name: string, input: object, result = 'ok', isError?: boolean): ChatMessage[] {
  const id = `call-${++calls}`;
  const call = { type: 'tool-call' as const, id, name, arguments: JSON.stringify(input) };
  const text = [{ type: 'text' as const, text: result }];
  return [
    { role: 'assistant', content: [call] },
    { role: 'tool', callId: id, content: text, ...(isError === undefined ? {} : { isError }) },
  ];
}
const file = '/app/a.py';
const wrote = (content: string) => used('Write', { file_path: file, content });
const edited = (old_string: string, new_string: string, more: object = {}) =>
  used('Edit', { file_path: file, old_string, new_string, ...more });
const textAfter = (...messages: ChatMessage[][]) => heldFiles(messages.flat(), 0)?.[0]?.text;

describe('a file that an agent edited', () => {
  it('is what was written before with the edit, also where a later answer made it', () => {
    expect(textAfter(wrote('a = 1\nb = 2\n'), edited('b = 2', 'b = 3'))).toBe('a = 1\nb = 3\n');
    const earlier = wrote('a = 1\n');
    expect(heldFiles([...earlier, ...edited('a = 1', 'a = 2')], earlier.length)).toEqual([
      { path: file, text: 'a = 2\n' },
    ]);
    expect(textAfter(wrote('a a'), edited('a', 'b', { replace_all: true }))).toBe('b b');
    const edits = [
      { old_string: '1', new_string: '2' },
      { old_string: 'a', new_string: 'b' },
    ];
    expect(textAfter(wrote('a = 1'), used('MultiEdit', { file_path: file, edits }))).toBe('b = 2');
  });

  it.each([
    [
      'Claude Code',
      'Read',
      { file_path: file },
      '     1→a = 1\n     2→b = 2\n<system-reminder>\nnot code\n</system-reminder>',
    ],
    ['Claude Code, with tabs', 'Read', { file_path: file }, '1\ta = 1\n2\tb = 2'],
    [
      'OpenCode',
      'read',
      { filePath: file },
      '<path>/app/a.py</path>\n<type>file</type>\n<content>\n1: a = 1\n2: b = 2\n\n(End of file - total 2 lines)\n</content>',
    ],
    [
      'OpenCode of last year',
      'read',
      { filePath: file },
      '<file>\n00001| a = 1\n00002| b = 2\n\n(End of file - total 2 lines)\n</file>',
    ],
    ['pi', 'read', { path: file }, 'a = 1\nb = 2\n'],
  ])('is what %s read with the edit', (_, tool, input, shown) => {
    expect(textAfter(used(tool, input, shown), edited('b = 2', 'b = 3'))).toBe('a = 1\nb = 3\n');
  });

  it('is not known from a part of it', () => {
    const two = '     1→a = 1\n     2→b = 2';
    for (const read of [
      used('Read', { file_path: file, limit: 2 }, two),
      used('Read', { file_path: file, offset: 0 }, two),
      used('Read', { file_path: file }, '     7→a = 1\n     8→b = 2'),
      used(
        'read',
        { filePath: file },
        `<file>\n${two}\n\n(File has more lines. Use 'offset' to read beyond line 2)\n</file>`,
      ),
      used('read', { path: file }, 'a = 1\nb = 2\n[Showing lines 1-2 of 300. Use offset=3 to continue.]'),
      used('Read', { file_path: file }, 'b = 2: permission denied', true),
    ])
      expect(textAfter(read, edited('b = 2', 'b = 3'))).toBeUndefined();
    expect(textAfter(edited('b = 2', 'b = 3'))).toBeUndefined();
    expect(
      textAfter(wrote('x'), used('Edit', { file_path: file, content: 'b', append: true })),
    ).toBeUndefined();
  });

  it('is not known where the edit has no place or two places in it', () => {
    expect(textAfter(wrote('a = 1'), edited('b', 'c'))).toBeUndefined();
    expect(textAfter(wrote('a a'), edited('a', 'b'))).toBeUndefined();
  });

  it('is unchanged by an edit that failed or that a person refused', () => {
    const failing = edited('zzz', 'y');
    const failed = failing.map((message) =>
      message.role === 'tool' ? { ...message, isError: true } : message,
    );
    expect(textAfter(wrote('a = 1'), failed)).toBe('a = 1');
  });

  it('makes the whole answer unknown where only another file is known', () => {
    const other = used('Edit', { file_path: '/app/b.py', old_string: 'x', new_string: 'y' });
    expect(heldFiles([...wrote('a'), ...other], 0)).toBeUndefined();
  });
});

describe('a file that an agent patched', () => {
  const patch = (...lines: string[]) =>
    used('apply_patch', { input: ['*** Begin Patch', ...lines, '*** End Patch'].join('\n') });
  const made = patch('*** Add File: a.py', '+def one():', '+    x = 1', '+def two():', '+    x = 1');
  const heldAfter = (...lines: string[]) => heldFiles([...made, ...patch(...lines)], 0);

  it('is the added file with its hunks, at the place that the heading names', () => {
    expect(heldAfter('*** Update File: a.py', '@@ def two():', '-    x = 1', '+    x = 2')).toEqual([
      { path: 'a.py', text: 'def one():\n    x = 1\ndef two():\n    x = 2\n' },
    ]);
    expect(
      heldAfter(
        '*** Update File: a.py',
        '@@',
        ' def one():',
        '-    x = 1',
        '@@',
        ' def two():',
        '+    y = 1',
      ),
    ).toEqual([{ path: 'a.py', text: 'def one():\ndef two():\n    y = 1\n    x = 1\n' }]);
  });

  it('is gone when it was deleted, and not known when it was moved or a hunk has no place', () => {
    expect(heldAfter('*** Delete File: a.py')).toEqual([]);
    expect(heldAfter('*** Update File: a.py', '*** Move to: b.py', '@@', '-    x = 1', '+x')).toBeUndefined();
    expect(heldAfter('*** Update File: a.py', '@@', '-    z = 1', '+x')).toBeUndefined();
    expect(heldAfter('*** Update File: b.py', '@@', '-    x = 1', '+x')).toBeUndefined();
  });
});
