import type { Socket } from 'node:net';

/**
 * Limits connections whose peer has not been verified and that are not being served: they are still sending headers or a
 * body, or are idle. Beyond the limit the oldest of them is closed, so that a new caller can always connect.
 */
export interface ConnectionLimit {
  opened(socket: Socket): void;
  /** A request was received completely and is being served: until `idle` the connection does not count. */
  serving(socket: Socket): void;
  /** The request was answered. */
  idle(socket: Socket): void;
  /** The peer is verified: its connection never counts again. */
  trust(socket: Socket): void;
}

export function createConnectionLimit(most: number, onClosed: () => void): ConnectionLimit {
  /** The oldest first. */
  const counted = new Set<Socket>();
  const trusted = new WeakSet<Socket>();
  const count = (socket: Socket): void => {
    counted.add(socket);
    if (counted.size <= most) return;
    const [oldest] = counted;
    if (oldest === undefined) return;
    counted.delete(oldest);
    oldest.destroy();
    onClosed();
  };
  return {
    opened: (socket) => {
      count(socket);
      socket.once('close', () => counted.delete(socket));
    },
    serving: (socket) => void counted.delete(socket),
    idle: (socket) => {
      if (!trusted.has(socket) && !socket.destroyed) count(socket);
    },
    trust: (socket) => {
      if (trusted.has(socket)) return;
      trusted.add(socket);
      counted.delete(socket);
    },
  };
}
