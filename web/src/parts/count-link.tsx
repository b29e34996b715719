import { count } from '../lib/format.ts';

/** A number that leads to what it counts; a zero leads nowhere. */
export const CountLink = ({ n, href }: { readonly n: number; readonly href: string }) =>
  n === 0 ? <>0</> : <a href={href}>{count(n)}</a>;
