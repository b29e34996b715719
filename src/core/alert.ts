/** What an alert may be about. `hello`: alerts were turned on, or go to another address. */
export const ALERT_EVENTS = ['budget', 'decision', 'rule', 'degraded'] as const;
export type AlertEvent = (typeof ALERT_EVENTS)[number];

/** The settings of alerts. */
export interface AlertSettings {
  readonly url: string;
  readonly secretEnv?: string | undefined;
  readonly events: readonly AlertEvent[];
  /** Hours of silence, as in `schedule.sleep`; absent: those. */
  readonly quiet?: string | undefined;
  readonly content: boolean;
}

/** Something that a person wants to know. Plain data, as the receiver gets it. */
export type Alert = {
  /** The same for the same cause, whichever process found it. */
  readonly id: string;
  readonly event: AlertEvent | 'hello';
  readonly at: string;
  readonly text: string;
  /** Ids of the lessons that it is about. */
  readonly lessons?: readonly string[];
  readonly session?: string;
  readonly turn?: string;
};
