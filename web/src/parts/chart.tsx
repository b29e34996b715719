import { useEffect, useRef, useState } from 'preact/hooks';

export interface ChartLine {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** A second line is told from the first by its colour and its dashes. */
  readonly isSecond?: boolean;
}

export interface ChartFlag {
  /** The place among the points. */
  readonly index: number;
  readonly label: string;
}

interface ChartProps {
  /** What the picture says, in a sentence. What it shows is also in a table: a picture says nothing to a screen reader. */
  readonly label: string;
  readonly lines: readonly ChartLine[];
  readonly format: (value: number) => string;
  /** The name of a point on the axis. */
  readonly nameOf: (index: number) => string;
  /** A point in words, for who points at it. */
  readonly say: (index: number) => string;
  /** The axis reaches at least this high, so that a single event does not look like a catastrophe. */
  readonly atLeast?: number;
  readonly flags?: readonly ChartFlag[];
  /** What the numbers are of. */
  readonly note?: string;
  readonly height?: number;
}

const LEFT = 34;
const RIGHT = 14;
const BOTTOM = 22;
const LINE = 15;
const FLAG_ROWS = 3;
/** The width of a letter of a label, about. */
const LETTER = 5.9;
const LONGEST_FLAG = 34;
const STEPS = [1, 2, 2.5, 5, 10];

/** A round number that the axis ends with, for three or four lines. */
function roundUp(value: number): number {
  const size = 10 ** Math.floor(Math.log10(value));
  return (STEPS.find((step) => step * size >= value) ?? 10) * size;
}

export function Chart(props: ChartProps) {
  const { label, lines, format, nameOf, atLeast = 0, flags = [], height = 180 } = props;
  const holder = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [pointed, point] = useState<number>();
  useEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const resize = new ResizeObserver(() => setWidth(element.clientWidth));
    resize.observe(element);
    return () => resize.disconnect();
  }, []);
  const points = Math.max(1, ...lines.map(({ values }) => values.length));
  const numbers = lines.flatMap(({ values }) => values.flatMap((value) => value ?? []));
  const low = Math.min(0, ...numbers);
  const high = roundUp(Math.max(atLeast, ...numbers, 1e-9));
  const x = (index: number): number =>
    LEFT + (points === 1 ? 0.5 : index / (points - 1)) * (width - LEFT - RIGHT);
  const placed = placeFlags(flags, x, width - RIGHT);
  const top = 8 + LINE * Math.max(0, ...placed.map(({ row }) => row + 1));
  const y = (value: number): number =>
    top + (1 - (value - low) / (high - low || 1)) * (height - top - BOTTOM);
  const ticks = [low, low + (high - low) / 2, high];
  const names = namesAt(points, width);
  return (
    <div class="chart" ref={holder}>
      {width > 0 && (
        <svg
          width={width}
          height={height}
          role="img"
          aria-label={label}
          onMouseMove={({ offsetX }) => {
            const index = Math.round(((offsetX - LEFT) / (width - LEFT - RIGHT)) * (points - 1));
            point(Math.min(points - 1, Math.max(0, index)));
          }}
          onMouseLeave={() => point(undefined)}
        >
          {ticks.map((tick) => (
            <g key={tick}>
              <line class="chart-grid" x1={LEFT} x2={width - RIGHT} y1={y(tick)} y2={y(tick)} />
              <text x={LEFT - 8} y={y(tick) + 4} text-anchor="end">
                {format(tick)}
              </text>
            </g>
          ))}
          {names.map((index) => (
            <text key={index} x={x(index)} y={height - 6} text-anchor={anchorOf(index, points)}>
              {nameOf(index)}
            </text>
          ))}
          {placed.map(({ index, words, row, isLeft, at }) => (
            <g key={`${index} ${row}`} class="chart-flag">
              <line x1={at} x2={at} y1={words === '' ? top - 5 : 4 + row * LINE} y2={height - BOTTOM} />
              {words !== '' && (
                <text x={isLeft ? at - 5 : at + 5} y={13 + row * LINE} text-anchor={isLeft ? 'end' : 'start'}>
                  {words}
                </text>
              )}
            </g>
          ))}
          {pointed !== undefined && (
            <line class="chart-cursor" x1={x(pointed)} x2={x(pointed)} y1={top} y2={height - BOTTOM} />
          )}
          {lines.map(({ label: name, values, isSecond }) => (
            <Line key={name} values={values} isSecond={isSecond === true} x={x} y={y} pointed={pointed} />
          ))}
        </svg>
      )}
      <Caption {...props} pointed={pointed} />
    </div>
  );
}

interface CaptionProps extends Pick<ChartProps, 'lines' | 'flags' | 'note' | 'say'> {
  readonly pointed: number | undefined;
}

/** What the lines are, or the point in words that somebody points at. */
const Caption = ({ lines, flags = [], note, say, pointed }: CaptionProps) => (
  <p class="chart-say small num" aria-hidden="true">
    {pointed === undefined ? (
      <span class="chart-key">
        {lines.map(({ label: name, isSecond }) => (
          <span key={name} class={isSecond === true ? 'is-second' : ''}>
            {name}
          </span>
        ))}
        {flags.length > 0 && <span class="is-flag">a lesson was learned</span>}
        {note !== undefined && <span class="is-note">{note}</span>}
      </span>
    ) : (
      say(pointed)
    )}
  </p>
);

interface LineProps {
  readonly values: readonly (number | null)[];
  readonly isSecond: boolean;
  readonly x: (index: number) => number;
  readonly y: (value: number) => number;
  readonly pointed: number | undefined;
}

function Line({ values, isSecond, x, y, pointed }: LineProps) {
  const runs: [number, number][][] = [];
  values.forEach((value, index) => {
    if (value === null) return;
    const isNext = index > 0 && values[index - 1] !== null;
    const run = isNext ? runs.at(-1) : undefined;
    if (run === undefined) runs.push([[x(index), y(value)]]);
    else run.push([x(index), y(value)]);
  });
  const last = values.findLastIndex((value) => value !== null);
  const marked = [last, ...(pointed === undefined ? [] : [pointed])];
  return (
    <g class={isSecond ? 'chart-line is-second' : 'chart-line'}>
      {runs.map((run) => (
        <path
          key={run[0]?.join()}
          d={run.map(([a, b], index) => `${index === 0 ? 'M' : 'L'}${a.toFixed(1)} ${b.toFixed(1)}`).join('')}
        />
      ))}
      {/* A day alone makes no line. */}
      {values.map((value, index) =>
        value !== null &&
        (marked.includes(index) || (values[index - 1] ?? values[index + 1] ?? null) === null) ? (
          <circle key={index} cx={x(index)} cy={y(value)} r={3.5} />
        ) : null,
      )}
    </g>
  );
}

/** The first and the last point, and some between them as far as there is room. */
function namesAt(points: number, width: number): readonly number[] {
  if (points === 1) return [0];
  const most = Math.min(points, Math.max(2, Math.floor(width / 150) + 1));
  return Array.from({ length: most }, (_, index) => Math.round((index * (points - 1)) / (most - 1)));
}

const anchorOf = (index: number, points: number): 'start' | 'middle' | 'end' =>
  points === 1 || (index > 0 && index < points - 1) ? 'middle' : index === 0 ? 'start' : 'end';

interface PlacedFlag {
  readonly index: number;
  readonly at: number;
  readonly row: number;
  /** Empty where there is no room for them. */
  readonly words: string;
  readonly isLeft: boolean;
}

/** The newest flags first, each with its words where they cover no others. */
function placeFlags(
  flags: readonly ChartFlag[],
  x: (index: number) => number,
  right: number,
): readonly PlacedFlag[] {
  const taken: (readonly [row: number, from: number, to: number])[] = [];
  return flags
    .toSorted((a, b) => b.index - a.index)
    .map(({ index, label }) => {
      const at = x(index);
      const words = label.length > LONGEST_FLAG ? `${label.slice(0, LONGEST_FLAG - 1)}…` : label;
      const size = words.length * LETTER + 10;
      const isLeft = at + size > right;
      const [from, to] = isLeft ? [at - size, at] : [at, at + size];
      const row = Array.from({ length: FLAG_ROWS }, (_, place) => place).find(
        (place) => from >= 0 && taken.every(([other, a, b]) => other !== place || b + 4 < from || to + 4 < a),
      );
      if (row === undefined) return { index, at, row: 0, words: '', isLeft };
      taken.push([row, from, to]);
      return { index, at, row, words, isLeft };
    });
}
