import { ALNUM, charClassAt } from './char-class.ts';
import { NO_SPANS, type SecretRule } from './scan-context.ts';

/** The word with what may follow it; also in text that JSON has escaped. */
export const PIN_TRIGGERS = ['pin ', 'pin:', 'pin=', 'pin"', 'pin-', "pin'", 'pin\\', 'pin`'] as const;

const PIN = /^pin(?:[ -]?(?:codes?|numbers?|nummer|no\.?))?/i;
/** `pin: 4821`, `my PIN is 884422`, `"pin": "884422"`. */
const ASSIGNED =
  /^(?<name>\\{0,3}["'`]?)[ \t]{0,4}(?:(?:is|was|ist|lautet|est|es|è|é)(?: now| jetzt)?[ \t]?:?|:=?|=>?)[ \t]{0,4}(?<open>\\{0,3}["'`]?)(?<digits>\d{4,12})(?![\w%]|[.,:/-]\d|[ \t]?(?:mm|ms|bytes?|hz|rpm|px)\b)/d;
/** `PIN 884422`: without a verb or a sign, four to eight digits. */
const BARE = /^[ \t](?<digits>\d{4,8})(?![\w%]|[.,:/-]\d)/d;
/** Words that make it somebody's PIN, and no pin of a chip: `my pin 4821`, `the alarm pin 4821`. */
const OWNED =
  /(?:^|[^\p{L}])(?:my|your|our|his|her|their|alarm|card|door|sim|bank|mein[e]?|dein[e]?|unser[e]?)[ -]$|(?:^|[\s"'`])--$/iu;

/** A PIN: digits behind the word. `pin 3 of the connector` and `pin 1.2.0` are none. */
export const findPin: SecretRule = ({ text, floor }, start) => {
  if ((charClassAt(text, start - 1) & ALNUM) !== 0 && !/\\[nrt]$/.test(text.slice(start - 2, start)))
    return NO_SPANS;
  const near = text.slice(start, start + 64);
  const name = PIN.exec(near)?.[0] ?? '';
  const rest = near.slice(name.length);
  const found = ASSIGNED.exec(rest) ?? (isOwned(text, start, floor) ? BARE.exec(rest) : null);
  const place = found?.indices?.groups?.digits;
  if (found === null || place === undefined) return NO_SPANS;
  // A number in JSON has no quotes, and a mark in its place would not be JSON.
  const { name: closing = '', open = '' } = found.groups ?? {};
  if (closing.includes('"') && open === '') return NO_SPANS;
  const at = start + name.length;
  return [{ start: at + place[0], end: at + place[1] }];
};

const isOwned = (text: string, start: number, floor: number): boolean =>
  text.startsWith('PIN', start) || OWNED.test(text.slice(Math.max(floor, start - 16), start));
