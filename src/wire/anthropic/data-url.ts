import { Buffer } from 'node:buffer';

export interface DataUrl {
  readonly mediaType: string;
  readonly base64: string;
}

/** Undefined when `url` is not a valid `data:` URL. */
export function decodeDataUrl(url: string): DataUrl | undefined {
  if (!/^data:/i.test(url)) return undefined;
  const comma = url.indexOf(',');
  if (comma < 0) return undefined;
  const [type = '', ...attributes] = url.slice('data:'.length, comma).split(';');
  const mediaType = type.trim().toLowerCase() || 'text/plain';
  const data = url.slice(comma + 1);
  if (attributes.some((attribute) => attribute.trim().toLowerCase() === 'base64')) {
    return { mediaType, base64: data };
  }
  try {
    return { mediaType, base64: Buffer.from(decodeURIComponent(data)).toString('base64') };
  } catch {
    return undefined;
  }
}

export const encodeDataUrl = ({ mediaType, base64 }: DataUrl): string => `data:${mediaType};base64,${base64}`;
