import type { TaskFacts } from './gaps.ts';

export const PEOPLE =
  'Imke Ravi Noor Pavel Jette Lucia Henrik Oona Sanna Tomas Aiko Bram Wanda Celso Freya Idris Marit Yusuf Elske Dario Nadia';

const MONTHS = 'January February March April May June July August September October November December'.split(
  ' ',
);

/** What a table gets that has `year`, `month` and `day_number`: `date` (2031-04-17) and `day` (17 April 2031). */
export const withDate = (facts: TaskFacts): TaskFacts => {
  const { year = '', month = '', day_number = '' } = facts;
  const date = [year, month.padStart(2, '0'), day_number.padStart(2, '0')].join('-');
  return { ...facts, date, day: dateLike('D Month YYYY', date) };
};

/** The facts that `withDate` needs. No day can be taken for a month. */
export const DATE_FACTS = { year: '2027..2035', month: '1..12', day_number: '13..28' } as const;

/** A day, `2031-04-17`, in a form such as `DD.MM.YYYY`. */
function dateLike(form: string, date: string): string {
  const [year = '', month = '', day = ''] = date.split('-');
  const name = MONTHS[Number(month) - 1] ?? '';
  const parts: Readonly<Record<string, string>> = {
    YYYY: year,
    YY: year.slice(2),
    Month: name,
    Mon: name.slice(0, 3),
    MM: month,
    M: String(Number(month)),
    DD: day,
    D: String(Number(day)),
  };
  return form.replaceAll(/YYYY|YY|Month|Mon|MM|M|DD|D/g, (part) => parts[part] ?? '');
}

/** For a rule on dates: the pattern `DATE_AS` finds the task's day in the form of the value. */
export const dateAs = (form: string, { date = '' }: TaskFacts): TaskFacts => ({ as: dateLike(form, date) });
export const DATE_AS = '(?:^|[^\\d/.-]){as}(?:[^\\d]|$)';

/** For a rule on amounts: the fact `amount`, four digits and two, as the value shows it. */
export const amountAs = (form: string, { amount = '' }: TaskFacts): TaskFacts => {
  const [whole = '', cents = ''] = amount.split('.');
  const [, thousands = '', point = ''] = /^1(\D?)234(\D)50$/.exec(form) ?? [];
  return { as: `${whole.slice(0, 1)}${thousands}${whole.slice(1)}${point}${cents}` };
};
export const AMOUNT_AS = "(?:^|[^\\d.,'_]){as}(?:[^\\d]|$)";

/** For a rule on times: the facts `hour` (13 to 21) and `minute` as the value shows them. */
export const timeAs = (form: string, { hour = '', minute = '' }: TaskFacts): TaskFacts => ({
  as: form.replaceAll(/14|30|2/g, (part) =>
    part === '14' ? hour : part === '30' ? minute : String(Number(hour) - 12),
  ),
});
export const TIME_AS = '(?:^|[^\\d]){as}(?:[^\\d]|$)';
export const TIME_FACTS = { hour: '13..21', minute: '11..58' } as const;

/** How a name of several words is put together. */
const CASED: Readonly<Record<string, (words: readonly string[]) => string>> = {
  'kebab-case': (words) => words.join('-'),
  camelCase: ([first = '', ...rest]) => [first, ...rest.map(upperFirst)].join(''),
  PascalCase: (words) => words.map(upperFirst).join(''),
  SCREAMING_SNAKE_CASE: (words) => words.join('_').toUpperCase(),
  'dot.case': (words) => words.join('.'),
  'Train-Case': (words) => words.map(upperFirst).join('-'),
  flatcase: (words) => words.join(''),
  UPPERCASE: (words) => words.join('').toUpperCase(),
  Upper_Snake: (words) => words.map(upperFirst).join('_'),
};

const upperFirst = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

/** A name in `snake_case` as a house writes it. */
export const caseLike = (form: string, name: string): string => CASED[form]?.(name.split('_')) ?? name;
