import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parseNothingSet } from '../../../lab/measure/memory/nothing-set.ts';
import { writeNote } from '../../../src/learn/memory/write/note-text.ts';
import { MOST_OF_MESSAGE, readStatements } from '../../../src/learn/memory/write/read-statements.ts';
import { checkLessonText } from '../../../src/lessons/check-lesson-text.ts';
import { foldAccents, readOwnSentences } from '../../../src/reader/own-sentences.ts';
import { NEGATIONS } from './negations.ts';

const quotes = (message: string): readonly string[] => readStatements(message).map(({ quote }) => quote);

describe('what a person plainly says', () => {
  it.each([
    'My editor is Helix.',
    'The server is demo-3 now',
    'Backups run at 02:00.',
    'The client Orsted pays in DKK.',
    "I'm vegetarian.",
    'When you restart the worker, drain the queue first.',
    'Tests must not touch the network.',
    'Deploys need one approval.',
    'Max upload size: 50 MB',
    'Sara takes care of invoices.',
    'please always address me as Captain',
    'Der Testserver heißt orca.',
    'Wir deployen nie freitags.',
    'Je préfère les réponses courtes.',
    'La reunión es a las 10:30.',
  ])('is a statement, also as the first message: "%s"', (message) => {
    expect(quotes(message)).toEqual([message]);
  });

  it('is told apart from the task beside it', () => {
    expect(quotes('My editor is Helix. Write me a config for it.')).toEqual(['My editor is Helix.']);
    expect(quotes('We deploy with Kamal.\n\nCan you check why the last deploy hangs?')).toEqual([
      'We deploy with Kamal.',
    ]);
  });

  it('is one thing and its value beside a question of its own, not what a question is about', () => {
    const code = ['The gate code is 4711.'];
    expect(quotes('The gate code is 4711. When does the bakery open?')).toEqual(code);
    expect(quotes('When does the bakery open? The gate code is 4711.')).toEqual(code);
    expect(quotes('The exit code is 137. What does that mean?')).toEqual([]);
    expect(quotes('The sum is 42. Why is it wrong?')).toEqual([]);
    expect(quotes('The gate code is 4711. Write me a poem.')).toEqual([]);
  });

  it('of a message with pasted text, or with many sentences, counts only where it is personal or a clear rule', () => {
    const pasted = '```\nTimeoutError: bucket did not answer\n```\nThe bucket is tf-prod.';
    expect(quotes(pasted)).toEqual([]);
    expect(quotes(pasted.replace('The bucket', 'Our bucket'))).toEqual(['Our bucket is tf-prod.']);
    expect(quotes('2026-01-11T07:12:44Z ERROR lost connection\nour queue is called rabbit-2')).toEqual([
      'our queue is called rabbit-2',
    ]);
    expect(
      quotes('Hello there. I slept badly. It rained. The cat woke me up. The queue is NATS. Bye.'),
    ).toEqual([]);
  });

  it('points back with the sentence that it points to, letter by letter', () => {
    const message = 'The Terraform state is in the bucket tf-state-prod. Always use that bucket.';
    expect(quotes(message)).toEqual([message]);
  });

  it('is bounded for each message', () => {
    const many = ['Our port is 1.', 'Our host is h2.', 'Our team is T3.', 'Our room is R4.'].join(' ');
    expect(quotes(many)).toHaveLength(MOST_OF_MESSAGE);
  });

  it.each([
    'Wow Karin, that must have been thrilling!',
    'Winning the race must have been a dream!',
    'Thanks for always having my back.',
    'My brother always makes me smile.',
    'Always good to hear from you!',
  ])('is no cheer in the words of a rule: "%s"', (message) => {
    expect(readStatements(message, 'I came back from the race yesterday.')).toEqual([]);
  });

  it('is no more than 3 of 100 messages that teach nothing', () => {
    const file = 'lab/measure/memory/nothing.jsonl';
    const messages = parseNothingSet(readFileSync(file, 'utf8'), file);
    const kept = messages.filter(({ text }) => readStatements(text).length > 0);
    expect(messages.length).toBeGreaterThanOrEqual(150);
    expect(kept.length / messages.length).toBeLessThanOrEqual(0.03);
  });
});

const SMALL_WORDS =
  /\b(?:not|no|never|none|nobody|neither|nor|without|only|but|except|unless|hardly|rarely|longer|stopped|gone|avoid|instead|far|forget|kein\w*|nicht|nie|niemals|mehr|nur|pas|jamais|plus|ne|n'\w+|nunca|ya|sin)\b|n't\b/g;
const smallWords = (text: string): readonly string[] =>
  (foldAccents(text.replaceAll('’', "'")).match(SMALL_WORDS) ?? []).sort();

describe('negation', () => {
  it('is never lost: every note has whole sentences of its message, with all their small words', () => {
    expect(NEGATIONS.length).toBeGreaterThanOrEqual(60);
    let kept = 0;
    for (const message of NEGATIONS) {
      const sentences = readOwnSentences(message).map(({ text }) => text);
      for (const statement of readStatements(message)) {
        kept++;
        const { quote } = statement;
        const own = sentences.filter((sentence) => quote.includes(sentence));
        expect(own.join(' '), message).toBe(quote);
        const note = writeNote(statement, { agent: 'a', project: 'p' }, 't1');
        expect(checkLessonText(note), message).toBeUndefined();
        expect(smallWords(note.description), message).toEqual(smallWords(quote));
        expect(
          note.content.split('\n').filter((line) => line.startsWith('> ')),
          message,
        ).toEqual([`> ${quote}`]);
      }
    }
    // What is left alone cannot be turned around: enough must be kept for this to mean something.
    expect(kept).toBeGreaterThanOrEqual(40);
  });

  it.each([
    'never mind, we use pnpm',
    "He said we don't use Kafka.",
    'The docs say we never retry.',
    'Yeah right, because we never have bugs.',
    'Sure, tests never fail here /s',
    'If we never cached anything, it would be slow.',
    'Why do we never cache anything?',
    "It isn't that tabs are wrong, we just use spaces.",
  ])('is left alone where it is doubted, quoted or meant otherwise: "%s"', (message) => {
    expect(quotes(message)).toEqual([]);
  });
});
