import { Buffer } from 'node:buffer';
import type { FilePart, ImagePart, TextPart, UserPart } from '../../core/chat.ts';
import { asString, compact, type Json, type JsonObject } from '../../core/json.ts';
import { arrayAt, objectAt, refuse, stringAt } from '../fields.ts';
import { decodeDataUrl, encodeDataUrl } from './data-url.ts';

const PROVIDER_BLOCKS: ReadonlySet<string> = new Set([
  'server_tool_use',
  'mcp_tool_use',
  'container_upload',
  'compaction',
  'tool_reference',
  'browser_state',
]);

/** A trace of the provider's own server-side tools, which no other provider can read. */
export const isProviderBlock = (type: string): boolean =>
  PROVIDER_BLOCKS.has(type) || type.endsWith('_tool_result');

export function decodeText(block: JsonObject, path: string): TextPart {
  const cacheControl = block.cache_control ?? undefined;
  return compact({ type: 'text' as const, text: stringAt(block.text, `${path}.text`), cacheControl });
}

export const encodeText = ({ text, cacheControl }: TextPart): JsonObject =>
  compact({ type: 'text', text, cache_control: cacheControl });

/** The content of a system prompt or system message: a string, or text blocks. */
export function decodeTexts(value: Json | undefined, path: string): readonly TextPart[] {
  if (typeof value === 'string') return value === '' ? [] : [{ type: 'text', text: value }];
  return arrayAt(value, path).map((item, index) => {
    const at = `${path}[${index}]`;
    const block = objectAt(item, at);
    return block.type === 'text' ? decodeText(block, at) : refuse(`${at}.type`, 'only text is allowed here');
  });
}

/** Decodes one block of a user's message or of a tool result; empty for a block that cannot be translated. */
export function decodeUserBlock(block: JsonObject, path: string): readonly UserPart[] {
  const type = stringAt(block.type, `${path}.type`);
  if (type === 'text') return [decodeText(block, path)];
  if (type === 'image') return [{ type: 'image', url: decodeSource(block, path) }];
  if (type === 'document') return decodeDocument(block, path);
  if (type === 'search_result') return decodeSearchResult(block, path);
  return isProviderBlock(type) ? [] : refuse(`${path}.type`, `a block of type '${type}' is not allowed here`);
}

function decodeDocument(block: JsonObject, path: string): readonly UserPart[] {
  const source = objectAt(block.source, `${path}.source`);
  const name = asString(block.title);
  if (source.type === 'text') {
    const text = stringAt(source.data, `${path}.source.data`);
    return [{ type: 'text', text: name === undefined ? text : `${name}\n\n${text}` }];
  }
  if (source.type === 'content') {
    const at = `${path}.source.content`;
    if (typeof source.content === 'string') return [{ type: 'text', text: source.content }];
    return arrayAt(source.content, at).flatMap((item, index) => {
      const inner = objectAt(item, `${at}[${index}]`);
      if (inner.type !== 'text' && inner.type !== 'image') {
        refuse(`${at}[${index}].type`, 'only text and images are allowed in a document');
      }
      return decodeUserBlock(inner, `${at}[${index}]`);
    });
  }
  return [compact({ type: 'file' as const, url: decodeSource(block, path), name })];
}

function decodeSource(block: JsonObject, path: string): string {
  const source = objectAt(block.source, `${path}.source`);
  if (source.type === 'url') return stringAt(source.url, `${path}.source.url`);
  if (source.type === 'base64') {
    return encodeDataUrl({
      mediaType: stringAt(source.media_type, `${path}.source.media_type`),
      base64: stringAt(source.data, `${path}.source.data`),
    });
  }
  if (source.type === 'file') {
    refuse(`${path}.source.type`, 'only the provider that stores a file can read it; send base64 or a url');
  }
  return refuse(`${path}.source.type`, "must be 'base64' or 'url'");
}

function decodeSearchResult(block: JsonObject, path: string): readonly UserPart[] {
  const head = [asString(block.title), asString(block.source)].filter((line) => line !== undefined);
  const texts = decodeTexts(block.content, `${path}.content`).map(({ text }) => text);
  return [{ type: 'text', text: [...head, ...texts].join('\n') }];
}

export function encodeUserPart(part: UserPart): JsonObject {
  if (part.type === 'text') return encodeText(part);
  return part.type === 'image' ? encodeImage(part) : encodeFile(part);
}

function encodeImage({ url }: ImagePart): JsonObject {
  const data = decodeDataUrl(url);
  if (data === undefined) return { type: 'image', source: { type: 'url', url } };
  // Anthropic accepts only the registered name image/jpeg; many clients write image/jpg.
  const mediaType = data.mediaType === 'image/jpg' ? 'image/jpeg' : data.mediaType;
  return { type: 'image', source: { type: 'base64', media_type: mediaType, data: data.base64 } };
}

function encodeFile({ url, name: title }: FilePart): JsonObject {
  const data = decodeDataUrl(url);
  if (data === undefined) return compact({ type: 'document', source: { type: 'url', url }, title });
  if (data.mediaType.startsWith('image/')) return encodeImage({ type: 'image', url });
  const source = data.mediaType.startsWith('text/')
    ? { type: 'text', media_type: 'text/plain', data: Buffer.from(data.base64, 'base64').toString() }
    : { type: 'base64', media_type: data.mediaType, data: data.base64 };
  return compact({ type: 'document', source, title });
}
