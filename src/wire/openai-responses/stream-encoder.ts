import type { StreamEncoder } from '../../core/wire.ts';
import { encodeEvent } from './failure.ts';
import { createReplyWriter } from './reply-writer.ts';

export function createStreamEncoder(now?: () => number): StreamEncoder {
  const write = createReplyWriter(now);
  let sequence = 0;
  return {
    encode: (event) =>
      write(event)
        .map((written) => encodeEvent(written, sequence++))
        .join(''),
  };
}
