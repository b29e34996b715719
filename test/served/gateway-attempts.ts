import { createGatewayClient } from '../../lab/suites/gateway-client.ts';
import type { AttemptModel, OpenAttemptAccess, OpenAttemptModel } from '../../src/core/attempt-model.ts';
import type { Clock } from '../../src/core/clock.ts';
import type { Exchange } from '../../src/core/upstream.ts';
import { wires } from '../../src/wire/wires.ts';

interface GatewayAttempts extends Pick<AttemptModel, 'costOf' | 'maxTokens'> {
  readonly open: OpenAttemptAccess;
  readonly exchange: Exchange;
  readonly clock: Clock;
  /** `provider/model`. */
  readonly name: string;
  /** The name that requests carry. */
  readonly model: string;
}

/** Attempts through the gateway, each with a key of its own: the gateway places the lessons, retries and records the turns. */
export const createGatewayAttempts =
  ({ open, exchange, clock, ...model }: GatewayAttempts): OpenAttemptModel =>
  async (order) => {
    const access = open(order);
    return {
      ...model,
      speak: createGatewayClient({
        exchange,
        wire: wires['openai-chat'],
        gateway: { origin: access.url, basePath: '/v1' },
        credentials: () => ({ 'x-instar-key': access.key }),
        clock,
      }),
      close: async () => access.close(),
    };
  };
