import { defaultRetryRule, type RetryRule } from '../core/retry.ts';

export interface GatewayLimits {
  readonly maxInFlight: number;
  readonly maxBodyBytes: number;
  readonly maxMessages: number;
  readonly retry: RetryRule;
}

const MB = 1024 * 1024;

/** Beyond what agents send, and within what two cores and the memory of a small server hold. */
export const GATEWAY_LIMITS: GatewayLimits = {
  /** Further requests are asked to retry later. */
  maxInFlight: 2000,
  /** A conversation with a dozen images. */
  maxBodyBytes: 64 * MB,
  /** The longest sessions of coding agents have about 3,000. */
  maxMessages: 10_000,
  retry: defaultRetryRule,
};
