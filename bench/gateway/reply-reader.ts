export interface ReplyEvents {
  /** A piece of the body, without chunk framing. */
  onBody?: (bytes: Buffer) => void;
  onEnd: (status: number, bodyLength: number, tail: string) => void;
}

type Phase = 'head' | 'counted' | 'size' | 'chunk' | 'trailer';
const TAIL = 14;

/** Reads HTTP/1.1 replies from a connection with as little CPU as possible. */
export function createReplyReader({ onBody, onEnd }: ReplyEvents): (bytes: Buffer) => void {
  let phase: Phase = 'head';
  let line = '';
  let status = 0;
  let missing = 0;
  let length = 0;
  let tail = '';

  const take = (bytes: Buffer): void => {
    length += bytes.length;
    const end = bytes.toString('latin1', Math.max(0, bytes.length - TAIL));
    tail = end.length === TAIL ? end : (tail + end).slice(-TAIL);
    onBody?.(bytes);
  };
  const finish = (): void => {
    phase = 'head';
    line = '';
    onEnd(status, length, tail);
  };
  const begin = (head: string): void => {
    status = Number(head.slice(9, 12));
    length = 0;
    tail = '';
    const counted = /\ncontent-length: *(\d+)/i.exec(head);
    phase = counted ? 'counted' : 'size';
    missing = Number(counted?.[1] ?? 0);
    if (counted && missing === 0) finish();
  };
  /** The position after the mark, which may arrive in several pieces; undefined when it is incomplete. */
  const until = (mark: string, bytes: Buffer, at: number): number | undefined => {
    // The network can split a mark, so the kept part of the line is searched again.
    const text = line + bytes.toString('latin1', at, Math.min(bytes.length, at + 2048));
    const found = text.indexOf(mark);
    if (found >= 0) {
      const next = at + found + mark.length - line.length;
      line = text.slice(0, found);
      return next;
    }
    line = text;
    return undefined;
  };

  return (bytes) => {
    let at = 0;
    while (at < bytes.length) {
      if (phase === 'counted' || phase === 'chunk') {
        const piece = bytes.subarray(at, at + missing);
        at += piece.length;
        missing -= piece.length;
        take(piece);
        if (missing > 0) return;
        if (phase === 'counted') finish();
        else phase = 'size';
        continue;
      }
      const next = until(phase === 'head' ? '\r\n\r\n' : '\r\n', bytes, at);
      if (next === undefined) return;
      at = next;
      const text = line;
      line = '';
      if (phase === 'head') begin(text);
      else if (phase === 'trailer') finish();
      else if (text !== '') {
        missing = Number.parseInt(text, 16);
        phase = missing === 0 ? 'trailer' : 'chunk';
      }
    }
  };
}
