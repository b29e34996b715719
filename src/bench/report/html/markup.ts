/** Only what `html` made: no text, and nothing read from a journal, can have this key. */
const MARKUP = Symbol('markup');

export interface Markup {
  readonly [MARKUP]: string;
}

/** What may stand in a hole of a template. Text is escaped; markup and lists of it are not. */
export type Content = string | number | Markup | readonly Content[] | undefined;

/**
 * A template whose holes are safe by construction: whatever is not made by `html` itself is text, in element content as
 * well as between the quotes of an attribute. (A hole belongs nowhere else: not in a tag's name, a style or a script.)
 */
export const html = (parts: TemplateStringsArray, ...holes: readonly Content[]): Markup => ({
  [MARKUP]: parts.reduce((all, part, place) => all + render(holes[place - 1]) + part),
});

export const toText = (markup: Markup): string => markup[MARKUP];

function render(content: Content): string {
  if (content === undefined) return '';
  if (typeof content === 'string') return escapeText(content);
  if (typeof content === 'number') return escapeText(String(content));
  return isList(content) ? content.map(render).join('') : content[MARKUP];
}

const isList = (content: Markup | readonly Content[]): content is readonly Content[] =>
  Array.isArray(content);

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
  '\n': ' ',
  '\t': ' ',
};

/** Controls, half characters and marks that turn the direction of text are shown as what they are: unreadable. */
const escapeText = (text: string): string =>
  text.replace(
    /[&<>"'`]|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu,
    (character) => ESCAPES[character] ?? '\u{fffd}',
  );
