import { defaultRetryRule, type RetryRule } from '../core/retry.ts';

/** Each limit is read when it is needed, so that a changed setting counts from the next request on. */
export interface GatewayLimits {
  readonly maxInFlight: number;
  readonly maxBodyBytes: number;
  readonly maxMessages: number;
  readonly retry: RetryRule;
}

interface LimitSettings {
  readonly maxInFlight: number;
  readonly maxBodyMb: number;
  readonly maxMessages: number;
  readonly retries: number;
}

const MB = 1024 * 1024;

/** The limits as the settings have them at the moment of reading. Add members with `Object.assign`: a spread reads them once. */
export const limitsOf = (settings: LimitSettings): GatewayLimits => ({
  get maxInFlight() {
    return settings.maxInFlight;
  },
  get maxBodyBytes() {
    return settings.maxBodyMb * MB;
  },
  get maxMessages() {
    return settings.maxMessages;
  },
  get retry() {
    return { ...defaultRetryRule, retries: settings.retries };
  },
});
