import type { FilePart, TextPart, UserPart } from '../../core/chat.ts';
import { asString, type Json, type JsonObject } from '../../core/json.ts';
import { objectAt, refuse, stringAt } from '../fields.ts';

type Value = Json | undefined;

/** Content as a string or as a list of parts; empty text is left out, since no provider accepts it. */
export function decodeParts(content: Value, path: string): UserPart[] {
  if (typeof content === 'string') return content === '' ? [] : [{ type: 'text', text: content }];
  if (!Array.isArray(content)) return refuse(path, 'must be a string or an array of parts');
  return content.flatMap((part, n) => decodePart(objectAt(part, `${path}[${n}]`), `${path}[${n}]`));
}

export function decodeTextParts(content: Value, path: string): TextPart[] {
  return decodeParts(content, path).map((part, n) =>
    part.type === 'text'
      ? part
      : refuse(`${path}[${n}].type`, `only text is allowed here, not "${part.type}"`),
  );
}

function decodePart(part: JsonObject, path: string): readonly UserPart[] {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'text':
      return decodeText(part, stringAt(part.text, `${path}.text`));
    case 'refusal':
      return decodeText(part, stringAt(part.refusal, `${path}.refusal`));
    case 'input_image':
      return [{ type: 'image', url: decodeImageUrl(part, path) }];
    case 'input_file':
      return [decodeFile(part, path)];
    // Only the provider that wrote it can read it.
    case 'encrypted_content':
      return [];
    default:
      return refuse(
        `${path}.type`,
        'must be input_text, output_text, refusal, input_image or input_file to be sent to this provider',
      );
  }
}

function decodeText(part: JsonObject, text: string): readonly TextPart[] {
  if (text === '') return [];
  const marked = part.prompt_cache_breakpoint !== undefined && part.prompt_cache_breakpoint !== null;
  return [{ type: 'text', text, ...(marked ? { cacheControl: { type: 'ephemeral' } } : {}) }];
}

function decodeImageUrl(part: JsonObject, path: string): string {
  const url = asString(part.image_url);
  if (url) return url;
  return refuse(
    `${path}.image_url`,
    'must be an https or data: URL (only the provider that stores a file can resolve its file_id)',
  );
}

function decodeFile(part: JsonObject, path: string): FilePart {
  const name = asString(part.filename);
  const named = name === undefined ? {} : { name };
  const url = asString(part.file_url);
  if (url) return { type: 'file', url, ...named };
  const data = asString(part.file_data);
  if (data) return { type: 'file', url: data.startsWith('data:') ? data : `${PDF}${data}`, ...named };
  return refuse(
    `${path}.file_data`,
    'send the file as file_data or file_url (only the provider that stores a file can resolve its file_id)',
  );
}

/** Bare base64 has no media type; every provider of this wire accepts PDF files. */
const PDF = 'data:application/pdf;base64,';

export function encodePart(part: UserPart): JsonObject {
  if (part.type === 'text') return { type: 'input_text', text: part.text };
  if (part.type === 'image') return { type: 'input_image', image_url: part.url, detail: 'auto' };
  if (!part.url.startsWith('data:')) return { type: 'input_file', file_url: part.url };
  return { type: 'input_file', filename: part.name ?? 'file.pdf', file_data: part.url };
}
