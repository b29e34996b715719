import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanQuery } from '../../../src/lessons/recall/clean-query.ts';

const TASK = 'please rotate the api keys';
const requests = (client: string): string =>
  readFileSync(path.join(import.meta.dirname, `../../gateway/client-requests/${client}.json`), 'utf8');

describe('a cleaned query', () => {
  it.each([
    ['a channel', `[Telegram Alice id:123 2026-11-15 10:00] ${TASK}`],
    [
      'a clock',
      `[Sun 2026-11-15 03:38 UTC] ${TASK}\n\nRuntime: agent=main | session=agent:main:main | host=box`,
    ],
    [
      'untrusted metadata',
      `Conversation info (untrusted metadata):\n\`\`\`json\n{ "message_id": "17", "sender": "Alice" }\n\`\`\`\n\n${TASK}`,
    ],
    ['a reminder', `<system-reminder>\n# gitStatus\nmain is clean\n</system-reminder>\n${TASK}`],
    ['an environment', `<environment_context>\n<cwd>/home/dev/shop</cwd>\n</environment_context>\n${TASK}`],
    ['instructions', `<user_instructions>\nAlways use tabs.\n</user_instructions>\n\n${TASK}`],
    ['an open file', `<ide_opened_file>The user opened src/a.ts</ide_opened_file>${TASK}`],
    [
      'an inner context',
      `<<<BEGIN_OPENCLAW_INTERNAL_CONTEXT>>>\nActive exec sessions: none\n<<<END_OPENCLAW_INTERNAL_CONTEXT>>>\n${TASK}`,
    ],
    [
      'a subagent',
      `[Sun 2026-11-15 03:40 UTC] [Subagent Context] You run as a subagent.\n[Subagent Task]: ${TASK}`,
    ],
    ['a wrapped query', `<user_info>OS: linux</user_info>\n<user_query>\n${TASK}\n</user_query>`],
    ['an id', `[message_id: 8f1c]\n${TASK} 0b0e5c0e-58c6-4a0e-9df3-4a1f6a4b7a10`],
    ['a picture', `${TASK} data:image/png;base64,${'iVBORw0KGgo'.repeat(40)}`],
  ])('is only the task, without %s', (_, text) => {
    expect(cleanQuery(text)).toBe(TASK);
  });

  it('keeps brackets and tags that a person wrote', () => {
    const text = '[WIP] make <header> sticky in [slug].tsx';
    expect(cleanQuery(text)).toBe(text);
  });

  it('keeps the first lines and the errors of a log', () => {
    const lines = Array.from({ length: 300 }, (_, n) => `2026-11-15T10:00:${n % 60} INFO step ${n}`);
    const log = [
      ...lines.slice(0, 200),
      '2026-11-15T10:03:00 ERROR: connect ECONNREFUSED',
      ...lines.slice(200),
    ];
    const cleaned = cleanQuery(`why does it stop?\n\`\`\`\n${log.join('\n')}\n\`\`\``);
    expect(cleaned).toContain('why does it stop?');
    expect(cleaned).toContain('step 0');
    expect(cleaned).toContain('connect ECONNREFUSED');
    expect(cleaned).not.toContain('step 100');
  });

  it('keeps the beginning and the end of a long message', () => {
    const cleaned = cleanQuery(`first ${'word '.repeat(5000)} last`);
    expect(cleaned.startsWith('first')).toBe(true);
    expect(cleaned.endsWith('last')).toBe(true);
    expect(cleaned.length).toBeLessThan(1600);
  });

  it('removes everything that real clients add to a message', () => {
    const all = ['openclaw', 'claude-code', 'codex'].map(requests).join('\n');
    const texts = [...all.matchAll(/"text": "((?:[^"\\]|\\.)*)"/g)].map(
      (match) => JSON.parse(`"${match[1]}"`) as string,
    );
    expect(texts.length).toBeGreaterThan(10);
    for (const text of texts) {
      const cleaned = cleanQuery(text);
      expect(cleaned).not.toMatch(/<\/?(?:system-reminder|environment_context|skills_instructions)>/);
      expect(cleaned).not.toMatch(/OPENCLAW_INTERNAL|sessionId=/);
    }
  });

  it('is short for any text', () => {
    const piece = fc.constantFrom(
      '<system-reminder>',
      '</system-reminder>',
      '```\n',
      '[',
      ']',
      '\n',
      ' x ',
      '<',
      'a',
    );
    fc.assert(
      fc.property(fc.array(fc.oneof(piece, fc.string()), { maxLength: 60 }), (parts) => {
        expect(cleanQuery(parts.join('')).length).toBeLessThan(1600);
      }),
    );
  });

  it('takes linear time for hostile texts of a megabyte', () => {
    for (const piece of [
      '<system-reminder>',
      '[',
      '- ',
      'a'.repeat(99),
      '<a ',
      '`',
      '(untrusted ',
      '0123abcd-',
    ])
      expect(cleanQuery(piece.repeat(1_000_000 / piece.length)).length).toBeLessThan(1600);
  });
});
