import type { Random } from '../../../../src/base/random.ts';
import { pick } from '../../../suites/workdays/draw.ts';

/** A thing that a rule is about, in one of several words. */
export interface Noun {
  readonly one: string;
  readonly many: string;
}

/** `a|b/bs`: with a plural of its own where it does not simply end in s. */
const NOUNS: Readonly<Record<string, string>> = {
  ticket:
    'ticket|ticket number|ticket id|ticket reference|job number|case number|issue number|number of a ticket/numbers of tickets',
  amount:
    'amount|sum|cost|effort|price|expense|figure for cost or effort/figures for cost or effort|budget figure',
  share: 'share|percentage|rate|ratio|portion|quota|share in per cent/shares in per cent',
  count:
    'count|number of seats/numbers of seats|seat count|capacity/capacities|number of places/numbers of places|headcount|seat figure',
  person:
    'name|person/persons|owner|first name|name of a person/names of people|colleague|employee|name of somebody/names of people|member of staff/members of staff',
  title: 'topic|title|subject|heading|theme|name of the topic/names of topics|headline|matter',
  state:
    'state|status/states|stage|progress word|status word|word for the state/words for the state|condition',
  date: 'date|day|start|start date|first day|calendar day|starting day',
  time: 'time|date and time/dates and times|deadline|due time|moment|due date with its time/due dates with their times|point in time/points in time',
  item: 'tag|label|keyword|tag word|single tag|catchword',
  tags: 'tags/tags|labels/labels|keywords/keywords|tag list/tags|list of tags/tags',
  key: 'key|field name|JSON key|name of a field/names of fields|key of the file/keys',
  keys: 'keys/keys|fields/fields|field names/field names|JSON keys/JSON keys',
  file: 'file name|name for a new file/names for new files|fresh file name|name on the drive/names on the drive|name of what you create/names of what you create',
};

export type NounName = keyof typeof NOUNS;

const plural = (one: string): string =>
  one.endsWith('y') && !/[aeo]y$/.test(one)
    ? `${one.slice(0, -1)}ies`
    : /(?:s|x|ch)$/.test(one)
      ? `${one}es`
      : `${one}s`;

export function drawNoun(name: NounName, random: Random): Noun {
  const [one = '', many = plural(one)] = pick(random, (NOUNS[name] ?? name).split('|')).split('/');
  return { one, many };
}

/** A field by its key, for which there is no other word. */
export function fieldNoun(key: string, random: Random): Noun {
  const one = pick(random, [
    key,
    key,
    `"${key}"`,
    `value of ${key}`,
    `field ${key}`,
    `${key} field`,
    `\`${key}\``,
  ]);
  return { one, many: /^value|field$/.test(one) ? one.replace(/^value|field$/, '$&s') : `${one} values` };
}
