import type { Upstream } from '../core/upstream.ts';
import type { WireName } from '../core/wire.ts';

/**
 * The origin and base path of a wire from a base URL in any usual spelling: `https://host`, `https://host/v1/`,
 * `https://host/anthropic`. Throws for an invalid one; the message never repeats the URL, which may contain a secret.
 */
export function parseBaseUrl(baseUrl: string, wire: WireName): Pick<Upstream, 'origin' | 'basePath'> {
  if (!URL.canParse(baseUrl)) {
    throw new Error('The base URL is not a URL. Write it in full, such as https://api.openai.com/v1.');
  }
  const url = new URL(baseUrl);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new Error('The base URL must start with https:// or http://.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error('The base URL contains credentials. Remove them and name the key with keyEnv.');
  }
  if (/[?#]/.test(baseUrl)) {
    throw new Error('The base URL has a query or a fragment. End it with the path, such as /v1.');
  }
  const path = withoutTrailingSlashes(url.pathname);
  if (path === '') return { origin: url.origin, basePath: '/v1' };
  const basePath = wire === 'anthropic' && !path.endsWith('/v1') ? `${path}/v1` : path;
  return { origin: url.origin, basePath };
}

function withoutTrailingSlashes(path: string): string {
  let end = path.length;
  while (end > 0 && path[end - 1] === '/') end--;
  return path.slice(0, end);
}
