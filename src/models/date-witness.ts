import type { Exchange } from '../core/upstream.ts';

/** Who wants to know what date servers show. */
export interface DateListener {
  /** Asked for every request, so it must cost nothing. */
  isListening(): boolean;
  hear(date: number): void;
}

/** The same exchange; while someone listens, the dates of successful replies over TLS are passed on. */
export const withDateWitness =
  (exchange: Exchange, listener: DateListener): Exchange =>
  (request, sink) => {
    if (!request.origin.startsWith('https:') || !listener.isListening()) return exchange(request, sink);
    return exchange(request, {
      onHead: (status, headers) => {
        const date = typeof headers.date === 'string' ? Date.parse(headers.date) : Number.NaN;
        if (status < 300 && Number.isFinite(date)) listener.hear(date);
        sink.onHead(status, headers);
      },
      onChunk: (chunk) => sink.onChunk(chunk),
      onEnd: () => sink.onEnd(),
      onFailure: (failure) => sink.onFailure(failure),
    });
  };
