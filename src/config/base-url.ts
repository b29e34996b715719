import { isForbiddenHost, isLoopbackHost, isPrivateHost } from './address.ts';

interface UrlFault {
  readonly what: string;
  readonly mend: string;
}

/** Why a provider may not be reached at this URL. The text itself is not repeated: it may hold a password. */
export function findBaseUrlFault(text: string): UrlFault | undefined {
  if (!URL.canParse(text)) {
    return { what: 'is not a URL', mend: 'write it in full, such as https://api.openai.com/v1' };
  }
  const url = new URL(text);
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    return { what: 'is not an http or https URL', mend: 'start it with https://' };
  }
  if (url.username !== '' || url.password !== '') {
    return {
      what: 'holds credentials, which would show in logs and status',
      mend: 'take them out and name the key with keyEnv or keyFile',
    };
  }
  if (text.includes('?') || text.includes('#')) {
    return { what: 'has a query or a fragment', mend: 'end it with the path, such as /v1' };
  }
  if (isForbiddenHost(url.hostname)) {
    return {
      what: 'points at a link-local, metadata or unusable address',
      mend: "use the provider's own host, or 127.0.0.1 for this machine",
    };
  }
  return undefined;
}

/** Whether a key would travel in the clear. Only literal addresses count as near: a name can resolve to anywhere. */
export function sendsKeyInClear(baseUrl: string | undefined, hasKey: boolean): boolean {
  if (!hasKey || baseUrl === undefined || !URL.canParse(baseUrl)) return false;
  const { protocol, hostname } = new URL(baseUrl);
  return protocol === 'http:' && !isLoopbackHost(hostname) && !isPrivateHost(hostname);
}

export const PLAIN_HTTP_FAULT: UrlFault = {
  what: 'would send the key over plain http, where anyone on the way can read it',
  mend: 'use https; plain http with a key is for loopback and private addresses only',
};
