/**
 * The key of a body that belongs to one turn alone: its request or its reply. It is found through its turn, and needs
 * neither a hash nor a reference count.
 */
export interface OwnBody {
  readonly turn: string;
  readonly part: 'request' | 'reply';
}

export const ownBodyName = ({ turn, part }: OwnBody): string => `${part}:${turn}`;

/** Undefined for the key of a shared block. */
export function readOwnBodyName(name: string): OwnBody | undefined {
  if (name.startsWith('request:')) return { part: 'request', turn: name.slice('request:'.length) };
  return name.startsWith('reply:') ? { part: 'reply', turn: name.slice('reply:'.length) } : undefined;
}
