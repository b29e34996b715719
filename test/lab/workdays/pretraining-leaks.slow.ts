import { describe, expect, it } from 'vitest';
import { drawAuxiliaryRule } from '../../../lab/measure/nano/auxiliary/draw-auxiliary.ts';
import { makeDayTasks } from '../../../lab/measure/nano/day-tasks.ts';
import { makeSamples } from '../../../lab/measure/nano/samples.ts';
import { tellSeenRule } from '../../../lab/measure/nano/seen-rules.ts';
import { pick } from '../../../lab/suites/workdays/draw.ts';
import { makeDays } from '../../../lab/suites/workdays/make-world/make-days.ts';
import { SAMPLE_PLAN } from '../../../lab/suites/workdays/rules/create-rule-set.ts';
import { drawRuleOf, formsOf } from '../../../lab/suites/workdays/rules/draw-rules.ts';
import { HOUSE_RULES } from '../../../lab/suites/workdays/rules/house-rules.ts';
import { openRules } from '../../../lab/suites/workdays/rules/open-rules.ts';
import { OTHER_RULES } from '../../../lab/suites/workdays/rules/other-rules.ts';
import { SPLITS } from '../../../lab/suites/workdays/world.ts';
import { createRandom } from '../../../src/base/random.ts';
import { isObject, parseJson } from '../../../src/core/json.ts';
import { reportSetValues, runsOf } from './leaks.ts';

const DAYS = 25;

const SAMPLES = Array.from({ length: DAYS }, (_, day) => [...makeSamples(10_000 + 37 * day, false)]).flat();

/** All that pre-training shows of some days, names as they are: prompts and replies. */
const TEXTS: readonly string[] = SAMPLES.flatMap(({ lines, task, clean, noisy }) => [
  ...lines.flatMap(({ texts }) => texts),
  task,
  ...[clean, ...noisy].flatMap((reply) =>
    reply.is === 'act' ? reply.commands : reply.is === 'say' ? [reply.text] : [],
  ),
]);

const SETS = [
  HOUSE_RULES,
  OTHER_RULES,
  openRules('lab/suites/workdays/rules/sets/bakery.json'),
  openRules('lab/suites/workdays/rules/sets/harbour.json'),
];
const TOLD = [
  ...[...formsOf('seen'), ...formsOf('unseen-forms')].flatMap(({ wordings }) => [
    ...wordings.gate,
    ...wordings.report,
  ]),
  ...SETS.flatMap(({ rules }) =>
    rules.flatMap((rule) =>
      SPLITS.flatMap((split) =>
        Array.from({ length: 40 }, (_, at) => rule.tell(SAMPLE_PLAN, split, createRandom(`leak/${at}`))),
      ),
    ),
  ),
];

/** A value as pre-training would show it: between other signs than its own kind. */
function occursIn(text: string, value: string): boolean {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    const isInWord = (place: number): boolean =>
      /\w/.test(text.charAt(place - 1)) && /\w/.test(text.charAt(place));
    if (!isInWord(at) && !isInWord(at + value.length)) return true;
  }
  return false;
}

/** The new JSON document of a clean reply with what the task says of it. */
interface Written {
  readonly said: string;
  readonly commands: readonly string[];
  readonly members: Readonly<Record<string, unknown>>;
}

const WRITTEN: readonly Written[] = SAMPLES.flatMap(({ task, clean }) => {
  if (clean.is !== 'act') return [];
  const [text] = clean.commands.flatMap((command) => /^write \S+ '(\{.*\})'$/.exec(command)?.[1] ?? []);
  const members: unknown = text === undefined ? undefined : parseJson(text.replaceAll(String.raw`'\''`, "'"));
  return isObject(members) ? [{ said: task, commands: clean.commands, members }] : [];
});

/** What stands before and after a value of the task in the file. */
function around({ said, members }: Written, key: string): readonly [string, string] | undefined {
  const found = members[key];
  const tolds = [...said.matchAll(new RegExp(`\\b${key}(?: to)? (\\w+)`, 'g'))].map(([, told = '']) => told);
  const told = tolds.find((one) => typeof found === 'string' && one.length > 2 && found.includes(one));
  if (told === undefined || typeof found !== 'string') return undefined;
  const at = found.indexOf(told);
  // A value that is written twice is another operation.
  if (found.indexOf(told, at + 1) >= 0) return undefined;
  return [found.slice(0, at), found.slice(at + told.length)];
}
const isEnded = (one: Written, key: string): boolean =>
  around(one, key)?.[0] === '' && around(one, key)?.[1] !== '';
const isFramed = (one: Written, key: string): boolean =>
  (around(one, key) ?? ['']).every((side) => side !== '');
/** What follows the name that a new file has by itself. */
const nameTail = ({ said, commands }: Written): string => {
  const topic = /\btopic (\w+)/.exec(said)?.[1];
  const kind = KINDS.find((one) => said.includes(`JSON ${one}`));
  const stem =
    commands.flatMap((command) => /^write '?\S*?([^/\s']+)\.\w+'? /.exec(command)?.[1] ?? [])[0] ?? '';
  const plain = `${topic}-${kind}`;
  return stem.toLowerCase().startsWith(plain) ? stem.slice(plain.length) : '';
};
const KINDS = 'note card quote memo plan review brief status roster survey order'.split(' ');
/** The files that a task changes, as its commands say. */
const changedBy = ({ said, commands }: Written): readonly string[] =>
  commands
    .flatMap((command) => /^(?:set|append) '?([\w/]+\.jsonl?)'? /.exec(command)?.[1] ?? [])
    .filter((path) => said.includes(path));
const folderOf = ({ commands }: Written): string | undefined =>
  commands.flatMap((command) => /^write '?([^/\s']+)\//.exec(command)?.[1] ?? [])[0];
const tagsOf = ({ members }: Written): readonly unknown[] =>
  Array.isArray(members.tags) ? members.tags : [];

const SUITE_KEYS = 'topic owner due ticket cost effort state version by at share seats start tags'.split(' ');
const saidTags = ({ said }: Written): readonly string[] =>
  /\btags ((?:\w+ and )*\w+)/.exec(said)?.[1]?.split(' and ') ?? [];
/** Whether something follows a tag, other than the tag itself. */
const isTagEnded = (tag: string, told: string): boolean => {
  const rest = tag.toLowerCase().startsWith(told) ? tag.slice(told.length).toLowerCase() : '';
  return rest !== '' && !rest.includes(told);
};

/** Signs that a reply does what a form asks for that is kept from pre-training, whatever its parameters. */
const SIGNS: Readonly<Record<string, (one: Written) => boolean>> = {
  'ticket-suffix': (one) => isEnded(one, 'ticket'),
  'person-suffix': (one) => isEnded(one, 'owner'),
  'person-surround': (one) => isFramed(one, 'owner'),
  'title-prefix': (one) => around(one, 'topic')?.[1] === '' && around(one, 'topic')?.[0] !== '',
  'state-surround': (one) => isFramed(one, 'state'),
  'count-pad': ({ members }) => /^0\d+$/.test(String(members.seats)),
  'share-decimals': ({ members }) => /^\d+[.,]0+$/.test(String(members.share)),
  'share-fraction': ({ members }) => /^0?[.,]\d\d$/.test(String(members.share)),
  'key-case': ({ members }) => 'TOPIC' in members || 'Topic' in members,
  'key-suffix': ({ members }) => Object.keys(members).some((key) => /^topic[^a-z]/.test(key)),
  'list-numbered': (one) =>
    /^1\W+[a-z]/.test(String(tagsOf(one)[0])) && /^2\W+[a-z]/.test(String(tagsOf(one)[1])),
  'item-suffix': (one) =>
    tagsOf(one).some((tag) => saidTags(one).some((told) => isTagEnded(String(tag), told))),
  'date-suffix': ({ members }) => /^\d{4}-\d\d-\d\d./.test(String(members.start)),
  'title-shorten': ({ said, members }) => {
    const told = /\btopic (\w+)/.exec(said)?.[1] ?? '';
    const found = String(members.topic);
    return found.length > 0 && found.length < told.length && told.startsWith(found.toLowerCase());
  },
  'field-folder': (one) => {
    const folder = folderOf(one) ?? '';
    return Object.entries(one.members).some(([key, value]) => !SUITE_KEYS.includes(key) && value === folder);
  },
  // A date behind the name is another rule.
  'file-suffix': (one) => /^[^\d]+$/.test(nameTail(one)),
  'edit-line': (one) =>
    changedBy(one).some((path) =>
      one.commands.some(
        (command) =>
          command.startsWith('append ') && !command.startsWith(`append ${path} `) && command.includes(path),
      ),
    ),
  'list-empty': (one) => /\btags none\b/.test(one.said) && typeof one.members.tags === 'string',
  'copy-new': ({ commands }) =>
    commands.some((command, at) => {
      const from = /^cp (\S+) /.exec(command)?.[1];
      return from !== undefined && commands.slice(0, at).some((other) => other.startsWith(`write ${from} `));
    }),
  'flag-file': ({ commands }) => commands.some((command) => /^write \S+\/t\d{4}\.[a-z]+ \w+$/.test(command)),
};

/** What the grammar says, far more of it than samples of some days have. */
function* tellings(): Generator<string> {
  const random = createRandom('leaks/tellings');
  const tasks = makeDayTasks(pick(random, makeDays('train', 77)), random);
  for (const form of formsOf('seen')) {
    const rule = drawRuleOf(form, 'seen', 'leaks');
    const fitting = tasks.filter(({ plan }) => rule.appliesTo(plan));
    for (let at = 0; at < 1_500; at++)
      yield tellSeenRule(rule, pick(random, fitting.length > 0 ? fitting : tasks).plan, random, 190).text;
  }
  for (let at = 0; at < 20_000; at++)
    yield drawAuxiliaryRule(random, ['zorp', 'quib']).tell(pick(random, tasks).base, random, 190).text;
}

describe('pre-training', () => {
  it.each(Object.entries(SIGNS))('never shows what %s asks for', (name, isShown) => {
    expect(formsOf('unseen-forms').map((form) => form.name)).toContain(name);
    expect(WRITTEN.length).toBeGreaterThan(400);
    expect(WRITTEN.filter(isShown).map(({ commands }) => commands.join(' ; '))).toEqual([]);
  });

  it('shows no value of a set that is reported on', () => {
    expect(TEXTS.length).toBeGreaterThan(5_000);
    const shown = reportSetValues().filter((value) => TEXTS.some((text) => occursIn(text, value)));
    expect(shown).toEqual([]);
  });

  it('says no seven words in a row of what is reported on, and hardly ever five', () => {
    const shared = (length: number) => {
      const shown = new Set(TEXTS.flatMap((text) => runsOf(text, length)));
      const told = [...new Set(TOLD.flatMap((text) => runsOf(text, length)))];
      return { told: told.length, both: told.filter((run) => shown.has(run)) };
    };
    const [five, seven] = [shared(5), shared(7)];
    expect(seven.told).toBeGreaterThan(500);
    expect(seven.both).toEqual([]);
    // Everyday English: "the name of a new file", "a date or a time".
    expect(five.both.length / five.told, five.both.join('\n')).toBeLessThan(0.02);
  });

  it('says no seven words in a row of what is reported on in 77,000 tellings either', () => {
    const told = new Set(TOLD.flatMap((text) => runsOf(text, 7)));
    const both = new Set<string>();
    for (const text of tellings()) for (const run of runsOf(text, 7)) if (told.has(run)) both.add(run);
    expect([...both]).toEqual([]);
  });

  it('never names a form that is kept from it', () => {
    for (const { name } of formsOf('unseen-forms'))
      expect(
        TEXTS.filter((text) => occursIn(text, name)),
        name,
      ).toEqual([]);
  });
});
