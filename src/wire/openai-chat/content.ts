import type { FilePart, TextPart, UserPart } from '../../core/chat.ts';
import type { Json, JsonObject } from '../../core/json.ts';
import { arrayAt, isAbsent, objectAt, optional, refuse, stringAt, textAt } from '../fields.ts';

/** Content that may only be text: a string, or parts of type `text`. Empty text is left out. */
export const decodeText = (value: Json | undefined, path: string): TextPart[] =>
  decodeParts(value, path, (part, here) => {
    const decoded = decodePart(part, here);
    return decoded.type === 'text' ? decoded : refuse(`${here}.type`, 'must be "text" here');
  });

/** The content of a user or tool message: a string, or parts. Empty text is left out. */
export const decodeUserContent = (value: Json | undefined, path: string): UserPart[] =>
  decodeParts(value, path, decodePart);

function decodeParts<T extends UserPart>(
  value: Json | undefined,
  path: string,
  decode: (part: JsonObject, path: string) => T | TextPart,
): (T | TextPart)[] {
  if (isAbsent(value)) return [];
  if (typeof value === 'string') return value === '' ? [] : [{ type: 'text', text: value }];
  if (!Array.isArray(value)) refuse(path, 'must be a string or an array of parts');
  return arrayAt(value, path)
    .map((part, index) => decode(objectAt(part, `${path}[${index}]`), `${path}[${index}]`))
    .filter((part) => part.type !== 'text' || part.text !== '');
}

function decodePart(part: JsonObject, path: string): UserPart {
  const type = stringAt(part.type, `${path}.type`);
  if (type === 'text') {
    const text = stringAt(part.text, `${path}.text`);
    return isAbsent(part.cache_control) ? { type, text } : { type, text, cacheControl: part.cache_control };
  }
  if (type === 'image_url') {
    const image = objectAt(part.image_url, `${path}.image_url`);
    return { type: 'image', url: textAt(image.url, `${path}.image_url.url`) };
  }
  if (type === 'file') return decodeFile(objectAt(part.file, `${path}.file`), `${path}.file`);
  return refuse(`${path}.type`, `a part of type ${JSON.stringify(type)} cannot be translated`);
}

function decodeFile(file: JsonObject, path: string): FilePart {
  if (isAbsent(file.file_data) && !isAbsent(file.file_id)) {
    refuse(`${path}.file_id`, 'an uploaded file cannot be translated; send its content as file_data');
  }
  const data = textAt(file.file_data, `${path}.file_data`);
  // The reference says base64, its examples show a data URL; this format accepts only PDF.
  const url = /^(?:data|https?):/i.test(data) ? data : `data:application/pdf;base64,${data}`;
  const name = optional(file.filename, `${path}.filename`, stringAt);
  return name === undefined ? { type: 'file', url } : { type: 'file', url, name };
}

/** One string where it is equivalent to an array, since every server accepts a string. */
export function encodeContent(
  parts: readonly UserPart[],
  plainText: boolean,
): string | readonly JsonObject[] {
  const encoded = parts.map(encodePart);
  const texts = encoded.flatMap((part) => (typeof part.text === 'string' ? [part.text] : []));
  const onlyText = texts.length === encoded.length;
  return onlyText && (plainText || texts.length < 2) ? texts.join('\n\n') : encoded;
}

function encodePart(part: UserPart): JsonObject {
  if (part.type === 'text') return { type: 'text', text: part.text };
  if (part.type === 'image') return { type: 'image_url', image_url: { url: part.url } };
  const text = textOfFile(part.url);
  if (text !== undefined) return { type: 'text', text: part.name ? `${part.name}:\n${text}` : text };
  return { type: 'file', file: { filename: part.name ?? 'document.pdf', file_data: part.url } };
}

/** The text of a plain-text file, which this format refuses as a file. */
function textOfFile(url: string): string | undefined {
  const comma = url.indexOf(',');
  const head = url.slice(0, comma).toLowerCase();
  if (comma < 0 || !head.startsWith('data:text/')) return undefined;
  const data = url.slice(comma + 1);
  if (head.endsWith(';base64')) return Buffer.from(data, 'base64').toString('utf8');
  try {
    return decodeURIComponent(data);
  } catch {
    return data;
  }
}
