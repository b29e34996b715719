/** Where a number lies, both ends included. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}
