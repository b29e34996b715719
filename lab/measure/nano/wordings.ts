import type { Random } from '../../../src/base/random.ts';
import { pick } from '../../suites/workdays/draw.ts';
import { expand, type Grammar } from './tell/expand.ts';

/*
 * A rule as people, learners and lists tell it. The words that carry a rule come from the training split and from the auxiliary rules; here
 * they are varied, so that a policy reads what is said and not a wording that it knows.
 */

/** Words that may stand for one another in what people say about files. */
const SYNONYMS: readonly (readonly string[])[] = [
  ['must be', 'has to be', 'should be', 'is to be', 'needs to be'],
  ['must have', 'has to have', 'should have', 'needs', 'gets'],
  ['must', 'has to', 'should', 'needs to'],
  ['every', 'each', 'any'],
  ['always', 'in all cases', 'every time', 'without exception'],
  ['for example', 'for instance', 'such as', 'like', 'e.g.', 'say'],
  ['as in', 'like', 'for example', 'so'],
  ['a new file', 'any new file', 'a file you create', 'each file that is new', 'whatever file you make'],
  ['new files', 'files you create', 'all new files', 'the files that you make'],
  ['in front of', 'before', 'ahead of'],
  ['behind', 'after'],
  ['before you change', 'before you edit', 'before changing', 'prior to changing'],
  ['begin with', 'start with', 'open with'],
  ['begins with', 'starts with', 'opens with'],
  ['ends with', 'ends in', 'closes with'],
  ['is written', 'is put down', 'goes down', 'is given'],
  ['is called', 'is named', 'has the name'],
  ['write', 'put down', 'put', 'use'],
  ['Write', 'Put', 'Use', 'Give'],
  ['append', 'add', 'attach'],
  ['copy', 'save a copy of', 'duplicate'],
  ['when you are finished', 'when you are done', 'once the work is over'],
  ['instead of', 'in place of', 'rather than', 'and not'],
];
const TABLE = new Map(SYNONYMS.flatMap((group) => group.map((word) => [word, group] as const)));
const KNOWN = new RegExp(
  `\\b(?:${[...TABLE.keys()]
    .sort((a, b) => b.length - a.length)
    .map((word) => word.replaceAll('.', '\\.'))
    .join('|')})(?![\\w.])`,
  'g',
);

const LEADS = [
  ...[
    'Please note: ',
    'Remember: ',
    'Again: ',
    'As I said, ',
    'Note that ',
    'From now on: ',
    'One thing: ',
    'Here we do it so: ',
  ],
  ...[
    'House rule: ',
    'For next time: ',
    'You forgot this: ',
    'Not like that. ',
    'That was wrong. ',
    'I told you before: ',
    'Always: ',
  ],
];
const TRAILS = [
  ' Please.',
  ' Thanks.',
  ' This holds for all tasks.',
  ' Every time.',
  ' It is how we work here.',
  ' Do not forget it.',
];

/** The same in other words. What stands in quotation marks stays. */
export function paraphrase(text: string, random: Random): string {
  const parts = text.split(/("[^"]*")/);
  const said = parts
    .map((part, at) =>
      at % 2 === 1
        ? part
        : part.replace(KNOWN, (word) =>
            random.next() < 0.45 ? pick(random, TABLE.get(word) ?? [word]) : word,
          ),
    )
    .join('');
  const luck = random.next();
  if (luck < 0.6) return said;
  if (luck < 0.85) return `${pick(random, LEADS)}${said}`;
  return `${said}${pick(random, TRAILS)}`;
}

const PROSE: Grammar = {
  situation: [
    '[Use|Use this|Apply|Apply this|Needed|Relevant|Read this] [when|whenever|before|each time] you [create|edit|write|change|finish] [a file|a document|files|something].',
    '[For|On|In] [tasks of this user|all file work|each document|new documents|tasks in this folder|everything that is written].',
    '[Conventions|Customs|Rules|Habits|Agreements] of [this house|this office|the team|this user|the project].',
    '[When|While|Before] [working on|starting|finishing|handing in] [a task|such a task|the work].',
    '[Files|Documents|Records] and [what is in them|how they are written|what goes with them].',
  ],
  view: [
    'The user [wants|asked for|expects|insists on|prefers|requires] [this|the following]: ',
    '[Learned from|Taken from|Known from] [feedback|a correction|an earlier task|what the user said]: ',
    '[Do it so|The rule|Follow it|What to do|In short|To do|Instruction|Steps]: ',
  ],
  check: [
    '[Check|Verify|Look over|Compare] [the result|the files|each file|what you wrote] [before you finish|at the end|once more].',
    'It was [missed|forgotten|overlooked] [before|in an earlier task|once].',
    '[Do this|It holds|That counts] [without being asked|in every task|even if nobody says so].',
    'The user has [said so|asked for it|pointed it out] [more than once|before|twice].',
    '[Ask if it does not fit|Other files are not concerned|Nothing else changes|Keep the rest as it is].',
  ],
};

/** As a model that writes skills would put it: a situation, what to do, and how to check it. */
export function asProse(told: string, again: () => string, random: Random): string {
  const say = (name: string): string => expand(`@${name}`, PROSE, random);
  const parts = [told];
  if (told.length < SHORT && random.next() < 0.3) parts.push(again());
  if (random.next() < 0.35) parts[0] = `${say('view')}${parts[0] ?? ''}`;
  if (random.next() < 0.6) parts.unshift(say('situation'));
  if (random.next() < 0.45) parts.push(say('check'));
  return parts.map(ended).join(' ');
}

const ended = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** In characters: what is said twice must not fill the prompt. */
const SHORT = 70;
const LONGEST_RULE = 130;

/** As a list of lessons shows it: the first sentence, cut where it is too long. */
export function asLine(told: string, random: Random): string {
  const rule = told.length <= LONGEST_RULE ? told : `${told.slice(0, LONGEST_RULE - 1).trimEnd()}…`;
  return random.next() < 0.4 ? `${expand('@situation', PROSE, random).replace(/\.$/, '')}: ${rule}` : rule;
}

/** As a lesson quotes a person. */
export const asQuote = (told: string, again: () => string, random: Random): string =>
  told.length < SHORT && random.next() < 0.2 ? `${ended(told)} Earlier: ${again()}` : told;

/** Remarks that ask for nothing. */
const REMARKS = [
  ...[
    'Good, I can work with that.',
    'Thank you, that was quick.',
    'Right, all of it.',
    'Fine so far.',
    'Nothing to add here.',
    'That one was better.',
  ],
  ...[
    'I would not have taken B (the date is missing).',
    'I would have taken C as well.',
    'I would not have taken A (it is another name).',
  ],
  ...[
    'There is something wrong with {task}: no new file; due is missing.',
    '{task} is not complete: state is not as I asked.',
  ],
  ...[
    'I looked at {task} and it is fine.',
    'See you tomorrow.',
    'We talk about {task} later.',
    'I found no letters in what you wrote.',
  ],
];

export const drawRemark = (random: Random): string =>
  pick(random, REMARKS).replace('{task}', `t${String(1000 + random.below(9000))}`);

/** What people say who only show how it should be. */
const SHOWN = [
  ...[
    'This should have been {shown}.',
    'Next time {shown}.',
    'It is {shown} here.',
    'Make it {shown}.',
    'Why not {shown}?',
  ],
  ...[
    'Compare yours with {shown}.',
    'The right way is {shown}.',
    'I asked for {shown} last week.',
    'Do it like this: {shown}.',
  ],
  ...[
    '{shown} is what works.',
    '{shown}, as everywhere else.',
    'We all write {shown}.',
    'You see {shown} in the other files.',
  ],
  ...[
    'Take {shown} as a pattern.',
    'No, {shown}.',
    'Only {shown} is accepted.',
    'Look: {shown}.',
    'In our house that is {shown}.',
  ],
];
export const showOnly = (shown: string, random: Random): string =>
  pick(random, SHOWN).replace('{shown}', () => shown);

interface Blur {
  readonly random: Random;
  /** Words that stay, in lower case. */
  readonly kept: ReadonlySet<string>;
  nextWord(): string;
}

/** Replaces some plain words by others, so that what is quoted and shown has to be read; quotation marks and signs stay. */
export const blurred = (text: string, share: number, { random, kept, nextWord }: Blur): string =>
  text.replace(/(?<=^|\s)[A-Za-z][a-z]+(?=[,.:;?]?(?:\s|$))/g, (word) => {
    if (kept.has(word.toLowerCase()) || random.next() >= share) return word;
    const other = nextWord();
    return /^[A-Z]/.test(word) ? other.charAt(0).toUpperCase() + other.slice(1) : other;
  });

/** One plain word with two letters exchanged or one left out; what a reply copies stays. */
export function misspelt(text: string, random: Random, kept: ReadonlySet<string>): string {
  const found = [...text.matchAll(/(?<=\s)[a-z]{5,}(?=[,.:;?]?(?:\s|$))/g)].filter(
    ([word]) => !kept.has(word) && !word.startsWith('qzx'),
  );
  if (found.length === 0) return text;
  const { 0: word, index } = pick(random, found);
  const at = 1 + random.below(word.length - 2);
  const middle = random.next() < 0.5 ? `${word.charAt(at + 1)}${word.charAt(at)}` : word.charAt(at + 1);
  return `${text.slice(0, index)}${word.slice(0, at)}${middle}${word.slice(at + 2)}${text.slice(index + word.length)}`;
}
