/** Only `html` can set this key: a string or an object parsed from a journal cannot. */
const MARKUP = Symbol('markup');

export interface Markup {
  readonly [MARKUP]: string;
}

/** What a placeholder of a template accepts. Text is escaped; markup and lists of it are not. */
export type MarkupContent = string | number | Markup | readonly MarkupContent[] | undefined;

/**
 * A template whose placeholders are safe by construction: whatever was not made by `html` itself is escaped as text, in element
 * content and in quoted attribute values. Placeholders are allowed nowhere else: not in a tag's name, a style or a script.
 */
export const html = (parts: TemplateStringsArray, ...values: readonly MarkupContent[]): Markup => ({
  [MARKUP]: parts.reduce((all, part, place) => all + render(values[place - 1]) + part),
});

export const toText = (markup: Markup): string => markup[MARKUP];

function render(content: MarkupContent): string {
  if (content === undefined) return '';
  if (typeof content === 'string') return escapeText(content);
  if (typeof content === 'number') return escapeText(String(content));
  return isList(content) ? content.map(render).join('') : content[MARKUP];
}

const isList = (content: Markup | readonly MarkupContent[]): content is readonly MarkupContent[] =>
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

/** Control characters, lone surrogates and direction marks become U+FFFD. */
const escapeText = (text: string): string =>
  text.replace(
    /[&<>"'`]|[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/gu,
    (character) => ESCAPES[character] ?? '\u{fffd}',
  );
