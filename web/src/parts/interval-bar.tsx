import { signed } from '../lib/format.ts';

interface IntervalBarProps {
  readonly mean: number;
  readonly low: number;
  readonly high: number;
  /** The ends of the scale. */
  readonly from: number;
  readonly to: number;
}

const WIDTH = 120;
const HEIGHT = 14;

/** A mean with its interval on a scale, and a line at zero. The numbers stand beside it. */
export function IntervalBar({ mean, low, high, from, to }: IntervalBarProps) {
  const x = (value: number): number => ((Math.min(to, Math.max(from, value)) - from) / (to - from)) * WIDTH;
  return (
    <svg
      class="interval"
      width={WIDTH}
      height={HEIGHT}
      role="img"
      aria-label={`${signed(mean)}, from ${signed(low)} to ${signed(high)}`}
    >
      <line class="scale" x1={0} x2={WIDTH} y1={HEIGHT / 2} y2={HEIGHT / 2} />
      {from < 0 && to > 0 && <line class="zero" x1={x(0)} x2={x(0)} y1={0} y2={HEIGHT} />}
      <rect
        class="range"
        x={x(low)}
        width={Math.max(2, x(high) - x(low))}
        y={HEIGHT / 2 - 3}
        height={6}
        rx={3}
      />
      <circle class="mean" cx={x(mean)} cy={HEIGHT / 2} r={3.5} />
    </svg>
  );
}
