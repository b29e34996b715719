import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodeCommandPrompt } from '../../src/models/command-model.ts';
import { REQUEST } from './provider.ts';

const said = (text: string) => ({ type: 'text', text }) as const;

describe('the prompt of a command', () => {
  it('begins with a fixed sentence (not with a slash that the program would take for a command)', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('/clear', '!ls', '#note', '@/etc/passwd', ' /help')), (texts) => {
        const messages = texts.map((text) => ({ role: 'user', content: [said(text)] }) as const);
        expect(encodeCommandPrompt({ ...REQUEST, messages }).text).toMatch(
          /^The (request|conversation so far):/,
        );
      }),
    );
  });

  it('contains a conversation with roles, calls and results', () => {
    const { system, text } = encodeCommandPrompt({
      ...REQUEST,
      system: [said('One.'), said('Two.')],
      messages: [
        { role: 'user', content: [said('Look'), { type: 'image', url: 'https://x/y.png' }] },
        { role: 'assistant', content: [{ type: 'tool-call', id: 'c', name: 'ls', arguments: '{"a":1}' }] },
        { role: 'tool', callId: 'c', content: [said('file.txt')] },
        { role: 'system', content: [said('Hurry')] },
      ],
    });
    expect(system).toBe('One.\n\nTwo.');
    expect(text).toBe(
      [
        'The conversation so far:',
        '[user]\nLook\n(image not shown)',
        '[assistant]\n(calls ls with {"a":1})',
        '[tool]\nfile.txt',
        '[system]\nHurry',
        "Write the assistant's next reply, and nothing but the reply.",
      ].join('\n\n'),
    );
  });

  it('asks for JSON when the request has a JSON format', () => {
    const schema = { type: 'object', required: ['a'] };
    const format = { type: 'json-schema', name: 'x', schema } as const;
    expect(encodeCommandPrompt({ ...REQUEST, format }).text).toContain(JSON.stringify(schema));
    expect(encodeCommandPrompt({ ...REQUEST, format: { type: 'json' } }).text).toContain('one JSON value');
    expect(encodeCommandPrompt(REQUEST).text).not.toContain('JSON');
  });

  it('has a system text even when the request has none', () => {
    expect(encodeCommandPrompt({ ...REQUEST, system: [] }).system).not.toBe('');
  });
});
