/** Facts about the clock of the machine. */
export type ClockFact =
  /** The wall clock is not believed (see `base/trusted-time`). Nothing expires until a `time-confirmed` follows. */
  | {
      readonly type: 'clock-leaped';
      readonly kind: 'leap' | 'absence';
      /** The time that was expected, and the time that the clock showed. */
      readonly from: number;
      readonly to: number;
    }
  /** The clock is believed again. `clock`: it is back at the time that was expected; `server`: servers show the same date. */
  | {
      readonly type: 'time-confirmed';
      readonly by: 'owner' | 'clock' | 'server';
      readonly time: number;
    };
