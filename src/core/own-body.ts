/**
 * The name of a body that one turn alone has: what it asked, or what was replied. It is found through its turn, so that it
 * needs neither a hash nor a count of those who use it.
 */
export interface OwnBody {
  readonly turn: string;
  readonly part: 'request' | 'reply';
}

export const ownBodyName = ({ turn, part }: OwnBody): string => `${part}:${turn}`;

/** Undefined for the name of a body that anyone may share. */
export function readOwnBodyName(name: string): OwnBody | undefined {
  if (name.startsWith('request:')) return { part: 'request', turn: name.slice('request:'.length) };
  return name.startsWith('reply:') ? { part: 'reply', turn: name.slice('reply:'.length) } : undefined;
}
