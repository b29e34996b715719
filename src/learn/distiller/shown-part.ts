import { findExample } from './find-example.ts';

const SHOWN = '(?:"[^"]{1,200}"|`[^`]{1,200}`|“[^”]{1,200}”|\\S*[\\d_/<{]\\S*)';
/** An example in the middle of a sentence. */
const LIKE = new RegExp(
  `,? (?:like|such as|as in|e\\.g\\.,?|for example,?|for instance,?|here|namely|so (?:this one|it|that) (?:is|becomes)|that is) ${SHOWN}`,
  'g',
);
/** The end of a sentence that applies it to the case at hand. */
const CASE =
  /,? so \S*\d\S* .{1,80}$|,? (?:so \S+ comes|from \S+ to) .{0,60}$|, \S+ before \S+$|,? (?:here|as in) .{1,200}$|: (?:"[^"]{1,200}"|`[^`]{1,200}`|\S*[\d{/_]\S*)$|: \w+(?:, \w+)+$/;
const CONTRAST =
  /,? (?:and )?(?:not|never just|never as an? \w+) \S*\d\S*$|\b(?:instead of|rather than) \S*\d\S*/g;

/** The sentence without its examples and its case: what it says in general. */
export function withoutShown(text: string): string {
  const example = findExample(text);
  const rest = (example === undefined ? text : text.replace(example, ' '))
    .replace(/\([^()]{1,200}\)/g, ' ')
    .replace(LIKE, ' ');
  const general = rest.replace(CASE, '').replace(CONTRAST, '').replace(/\s+/g, ' ').trim();
  return general.split(' ').length < 3 ? rest : general;
}

const COPY = /(?<![\w/<.-])((?:[\w.-]{1,80}\/){1,8}[\w-]{1,80}\.\w{1,5})(\.\w{1,5})(?![\w/])/g;

/**
 * "copy a/plan.json to a/plan.json.old" applies to every file: names become `<file>`, and the case its example. Undefined
 * where the sentence is general, or where the names are an example already.
 */
export function withoutCase(todo: string): { readonly todo: string; readonly example: string } | undefined {
  const shown = findExample(todo) ?? '';
  const [match] = [...todo.matchAll(COPY)].filter(([name]) => !shown.includes(name));
  const [name = '', file = '', ending = ''] = match ?? [];
  if (name === '') return undefined;
  const general = todo.replaceAll(name, `<file>${ending}`).replaceAll(file, '<file>');
  return { todo: general, example: name };
}
