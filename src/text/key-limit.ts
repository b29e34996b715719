import type { KeyLimit } from '../core/key-limit.ts';
import { dollars } from './phrases.ts';

const FORM = /^(\$?)(\d[\d_,]*(?:\.\d+)?)\s*(requests?|tokens?|usd)?\s*\/\s*(minute|day)$/i;
const MOST = 1e12;

/** A limit as a person types it: `60 requests/minute`, `200000 tokens/day`, `$5/day`. Undefined for anything else. */
export function readKeyLimit(text: string): KeyLimit | undefined {
  const [, dollar, number = '', word = '', per] = FORM.exec(text.trim()) ?? [];
  const of = dollar === '$' ? 'usd' : `${word.toLowerCase().replace(/s$/, '')}s`.replace(/^usds$/, 'usd');
  const most = Number(number.replace(/[_,]/g, ''));
  if ((dollar === '$') === (word !== '') || !(most > 0 && most <= MOST)) return undefined;
  if (of !== 'usd' && !Number.isInteger(most)) return undefined;
  return {
    of: of === 'usd' ? 'usd' : of === 'tokens' ? 'tokens' : 'requests',
    most,
    per: per?.toLowerCase() === 'day' ? 'day' : 'minute',
  };
}

/** `60 requests a minute`, `$5.00 a day`. */
export const sayKeyLimit = (limit: KeyLimit): string => `${sayAmount(limit, limit.most)} a ${limit.per}`;

/** `12 of 60 requests a minute`. */
export const sayKeyUse = (limit: KeyLimit, used: number): string =>
  `${limit.of === 'usd' ? dollars(used) : Math.round(used).toLocaleString('en-US')} of ${sayKeyLimit(limit)}`;

const sayAmount = ({ of }: KeyLimit, amount: number): string =>
  of === 'usd' ? dollars(amount) : `${amount.toLocaleString('en-US')} ${amount === 1 ? of.slice(0, -1) : of}`;
