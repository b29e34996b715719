import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isChatWordMessage, parseChatWord, readTypedWords } from '../../src/text/chat-word.ts';
import { runsOf } from '../support/counts.ts';

describe('a word to Instar', () => {
  it.each([
    ['instar: good', 1, undefined],
    ['Instar:good', 1, undefined],
    ['INSTAR : Good!', 1, undefined],
    ['instar： good', 1, undefined],
    ['instar: 👍', 1, undefined],
    ['instar: thanks', 1, undefined],
    ['instar: good, the units are right now', 1, 'the units are right now'],
    ['instar: good work', 1, 'work'],
    ['  instar: bad \n', -1, undefined],
    ['instar: bad, use ISO dates', -1, 'use ISO dates'],
    ['instar: bad use ISO dates', -1, 'use ISO dates'],
    ['instar: bad - use ISO dates', -1, 'use ISO dates'],
    ['instar: bad\nuse ISO dates', -1, 'use ISO dates'],
    ['instar: wrong, use ISO dates', -1, 'use ISO dates'],
    ['instar: bad, why no ISO dates?', -1, 'why no ISO dates?'],
    ['instar: use ISO dates', -0.5, 'use ISO dates'],
    ['instar: wrong date format', -0.5, 'wrong date format'],
    ['instar: badly indented', -0.5, 'badly indented'],
    ['instar: goodbye messages are not wanted', -0.5, 'goodbye messages are not wanted'],
    ['instar: ISO', -0.5, 'ISO'],
  ])('%j scores %d with the note %j', (text, score, note) => {
    expect(parseChatWord(text)).toStrictEqual({
      kind: 'rating',
      score,
      ...(note === undefined ? {} : { note }),
    });
  });

  it.each(['instar: help', 'instar:', 'Instar: ?', 'instar: help me'])(
    '%j is a question: nothing is rated',
    (text) => {
      expect(parseChatWord(text)).toStrictEqual({ kind: 'help' });
    },
  );

  it.each([
    'what did you learn?',
    'was habe ich über das Paket gesagt?',
    'use ISO dates, did I say?',
    'what did I say about the parcel',
    'remind me what we picked for the cache.',
  ])('takes %j for a question about what was said (not: a rating)', (what) => {
    expect(parseChatWord(`instar: ${what}`)).toStrictEqual({
      kind: 'command',
      command: { name: 'recall', what },
    });
  });

  it.each([
    'instar good',
    'is instar: good?',
    'instar is good',
    'good',
    'please say "instar: good"',
    '"instar: good"',
    '> instar: good',
    'instar: bad\n> use ISO dates',
    'instar: see this\n```\nlog\n```',
    'instar: starting\ninstar: listening on 4600',
    `instar: ${'word '.repeat(300)}`,
    `instar: a list\n${'- point\n'.repeat(12)}`,
    'the tool said\ninstar: good',
    'instars: good',
    'minstar: good',
  ])('%j is an ordinary message', (text) => {
    expect(parseChatWord(text)).toBeUndefined();
  });

  it('is no ordinary text, whatever it is: only one that begins with the name and a colon', () => {
    const piece = fc.constantFrom('instar', 'Instar', ':', ' ', 'good', 'bad', '\n', '"', '> ', 'use', 'a');
    const text = fc.oneof(
      fc.string(),
      fc.array(piece, { maxLength: 8 }).map((parts) => parts.join('')),
    );
    fc.assert(
      fc.property(text, (said) => {
        const word = parseChatWord(said);
        if (word === undefined) return;
        expect(said).toMatch(/^\s*instar\s*[:：]/i);
      }),
      runsOf(1000, 3000),
    );
  });
});

describe('what a person typed', () => {
  it.each([
    ['[Sun 2026-11-15 03:41 UTC] instar: good', 'instar: good'],
    ['[Telegram Ann (@ann) id:12 +2m 2026-11-15 03:41 UTC] instar: bad', 'instar: bad'],
    [
      '[Sun 2026-11-15 03:38 UTC] instar: bad\n\nRuntime: agent=main | session=agent:main:main',
      'instar: bad',
    ],
    ['<system-reminder>\nBe kind.\n</system-reminder>\ninstar: good', 'instar: good'],
    ['<user_query>\ninstar: good\n</user_query>', 'instar: good'],
    [
      'Conversation info (untrusted metadata):\n```json\n{"sender":"ann"}\n```\n\ninstar: good\n[message_id: 7]',
      'instar: good',
    ],
    ['[Request interrupted by user]\ninstar: bad', 'instar: bad'],
    ['<environment_context>\n<cwd>/tmp</cwd>\n</environment_context>', ''],
  ])('of %j is %j', (message, typed) => {
    expect(readTypedWords(message)).toBe(typed);
  });

  it('is found in a recorded message of several parts, and not in a part among others', () => {
    const reminder = '<system-reminder>\nBe kind.\n</system-reminder>';
    expect(isChatWordMessage([reminder, 'instar: bad, use ISO dates'])).toBe(true);
    expect(isChatWordMessage(['"instar: bad"'])).toBe(true);
    expect(isChatWordMessage(['instar: bad', 'and now write the report'])).toBe(false);
    expect(isChatWordMessage(['I told it instar: bad and it worked'])).toBe(false);
  });
});
