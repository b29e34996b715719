/** A closed interval. */
export interface Interval {
  readonly low: number;
  readonly high: number;
}
