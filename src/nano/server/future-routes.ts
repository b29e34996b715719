import { flagAt, textAt } from '../tinker/json-fields.ts';
import { decodeSampleAsk } from '../tinker/sample-ask.ts';
import { parseBody, printOf } from './job.ts';
import { keyOf } from './key-of.ts';
import { renderOutcome } from './outcome.ts';
import { Refusal } from './refusal.ts';
import { NO_CONTENT, ok, type Route } from './route.ts';
import type { ServerParts } from './server-parts.ts';

/** Sampling, and the results of requests that were answered with a future. */
export function createFutureRoutes(parts: ServerParts): readonly Route[] {
  const { futures, keys, limits, models, samplers, sampling, sessions } = parts;

  /** An id of the right form that is unknown had a result that is no longer kept. */
  const explain = (id: string): Refusal => {
    const isOurs = /^(s-[0-9a-f-]{36}:(train|sample):x?\d+:\d+|(sample|unload):[0-9a-f-]{36})$/.test(id);
    if (!isOurs) return new Refusal(404, `Request ${id.slice(0, 100)} does not exist.`);
    return new Refusal(410, `The result of ${id} is no longer kept.`);
  };
  const waitingFor = (id: string): string | undefined => {
    const model = models.live().find(({ card }) => id.startsWith(`${card.id}:`));
    return model?.missing === undefined
      ? undefined
      : `It waits for request ${model.missing}, which has not arrived.`;
  };

  return [
    {
      method: 'POST',
      path: '/api/v1/retrieve_future',
      answer: async ({ bytes, headers, signal }) => {
        const body = parseBody(bytes);
        const id = textAt(body, 'request_id');
        const outcome = await futures.read(id, limits.pollMs, signal);
        if (outcome === undefined) throw explain(id);
        if (outcome === 'pending') {
          const reason = waitingFor(id);
          const queue =
            reason === undefined
              ? { queue_state: 'active' }
              : { queue_state: 'paused_capacity', queue_state_reason: reason };
          return { status: 408, body: { type: 'try_again', request_id: id, ...queue } };
        }
        const payload = renderOutcome(outcome, (headers.accept ?? '').includes('application/x-protobuf'));
        if (payload.bytes.length > limits.inlineBytes && flagAt(body, 'allow_metadata_only', false))
          return ok({ status: 'complete_metadata', response_payload_size: payload.bytes.length });
        return { status: 200, body: payload };
      },
    },
    {
      method: 'POST',
      path: '/api/v1/cancel_future',
      answer: ({ bytes }) => {
        sampling.cancel(textAt(parseBody(bytes), 'request_id'));
        return NO_CONTENT;
      },
    },
    {
      method: 'POST',
      path: '/api/v1/asample',
      answer: async ({ bytes, headers }) => {
        const body = parseBody(bytes);
        const ask = decodeSampleAsk(body);
        const sampler = ask.samplerId === undefined ? undefined : samplers.find(ask.samplerId);
        if (ask.samplerId !== undefined && sampler === undefined)
          throw new Refusal(404, `Sampling session ${ask.samplerId.slice(0, 100)} does not exist.`);
        if (sampler !== undefined) sessions.touch(sampler.session);
        const print = printOf('asample', body);
        const reply = await keys.once(keyOf(headers), print, async () => {
          const id = sampling.submit(ask, print);
          // Newer clients refer to each sequence before it exists.
          const names = Array.from({ length: Math.max(0, Math.min(ask.count, 256)) }, (_, i) => `${id}/${i}`);
          return { request_id: id, sample_sequence_ids: names };
        });
        return ok(reply);
      },
    },
  ];
}
