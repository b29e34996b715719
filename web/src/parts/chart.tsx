import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { shortDay } from '../lib/format.ts';
import { useTheme } from '../lib/theme.ts';

export interface ChartLine {
  readonly label: string;
  readonly values: readonly (number | null)[];
  /** Drawn as a band around the values. */
  readonly low?: readonly (number | null)[];
  readonly high?: readonly (number | null)[];
  readonly format: (value: number) => string;
  readonly scale?: string;
  readonly color?: string;
}

export interface ChartMark {
  /** On the axis of `x`. */
  readonly x: number;
  readonly isStrong?: boolean;
}

interface ChartProps {
  readonly label: string;
  /** Seconds since the epoch, or plain numbers with `isTime` false. */
  readonly x: readonly number[];
  readonly isTime: boolean;
  readonly lines: readonly ChartLine[];
  readonly marks?: readonly ChartMark[];
  readonly range?: readonly [number, number] | undefined;
  readonly height?: number;
  /** A point in words, for who points at it. */
  readonly say?: (index: number) => string;
  /** Where a click on a point leads. */
  readonly hrefOf?: (index: number) => string | undefined;
}

/** A line chart. What it shows is also in a table, with its links: a picture says nothing to a screen reader. */
export function Chart({
  label,
  x,
  isTime,
  lines,
  marks = NO_MARKS,
  range,
  height = 200,
  say,
  hrefOf,
}: ChartProps) {
  const holder = useRef<HTMLDivElement>(null);
  const readout = useRef<HTMLParagraphElement>(null);
  const [theme] = useTheme();
  const idle = hrefOf === undefined ? '' : 'Point at the line to read it; a click opens the sessions.';
  // The colours come from the theme's variables.
  useEffect(() => {
    const element = holder.current;
    if (element === null) return;
    const plot = new uPlot(
      optionsOf(element, {
        ...{ isTime, lines, marks, range, height },
        onPoint: (index) => {
          // Outside of the component's state: the pointer moves often, and nothing else changes.
          if (readout.current !== null)
            readout.current.textContent = index == null ? idle : (say?.(index) ?? '');
        },
      }),
      dataOf(x, lines),
      element,
    );
    if (hrefOf !== undefined)
      plot.over.addEventListener('click', () => {
        const href = plot.cursor.idx == null ? undefined : hrefOf(plot.cursor.idx);
        if (href !== undefined) location.hash = href;
      });
    const resize = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height }));
    resize.observe(element);
    return () => {
      resize.disconnect();
      plot.destroy();
    };
  }, [theme, x, isTime, lines, marks, range, height, say, hrefOf, idle]);
  return (
    <>
      <div
        ref={holder}
        class={hrefOf === undefined ? 'chart' : 'chart is-link'}
        role="img"
        aria-label={label}
      />
      {say !== undefined && (
        <p ref={readout} class="chart-say small num" aria-hidden="true">
          {idle}
        </p>
      )}
    </>
  );
}

const NO_MARKS: readonly ChartMark[] = [];

const dataOf = (x: readonly number[], lines: readonly ChartLine[]): uPlot.AlignedData => [
  [...x],
  ...lines.flatMap(({ values, low, high }) => [
    [...values],
    ...(low === undefined || high === undefined ? [] : [[...high], [...low]]),
  ]),
];

function optionsOf(
  element: HTMLElement,
  {
    isTime,
    lines,
    marks,
    range,
    height,
    onPoint,
  }: Required<Pick<ChartProps, 'isTime' | 'lines' | 'marks' | 'height'>> &
    Pick<ChartProps, 'range'> & { readonly onPoint: (index: number | null | undefined) => void },
): uPlot.Options {
  const style = getComputedStyle(element);
  const color = (name: string): string => style.getPropertyValue(name).trim();
  const font = `11px ${style.fontFamily}`;
  const axis = {
    stroke: color('--ink-2'),
    font,
    grid: { stroke: color('--line'), width: 1 },
    ticks: { show: false },
  };
  const series: uPlot.Series[] = [{}];
  const bands: uPlot.Band[] = [];
  for (const { label, low, high, format, color: name = '--accent' } of lines) {
    series.push({
      label,
      stroke: color(name),
      width: 1.75,
      spanGaps: true,
      points: { size: 5, fill: color('--bg') },
      value: (_, value) => (value === null ? '–' : format(value)),
    });
    if (low === undefined || high === undefined) continue;
    const at = series.length;
    const edge = { stroke: 'transparent', width: 0, points: { show: false }, spanGaps: true };
    series.push({ ...edge, label: `${label}, high` }, { ...edge, label: `${label}, low` });
    bands.push({ series: [at, at + 1], fill: withAlpha(color(name), 0.14) });
  }
  const first = lines[0];
  return {
    width: element.clientWidth,
    height,
    cursor: { y: false, points: { size: 7 } },
    legend: { show: false },
    scales: { x: { time: isTime }, y: range === undefined ? {} : { range: [range[0], range[1]] } },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28,
        ...(isTime
          ? { space: 72, values: (_: uPlot, ticks: number[]) => ticks.map((tick) => shortDay(tick * 1000)) }
          : {}),
      },
      {
        ...axis,
        size: 48,
        space: 26,
        values: (_, ticks) => ticks.map((tick) => first?.format(tick) ?? String(tick)),
      },
    ],
    series,
    bands,
    hooks: {
      setCursor: [(plot) => onPoint(plot.cursor.idx)],
      draw: [
        (plot) => {
          const { ctx, bbox } = plot;
          ctx.save();
          for (const { x, isStrong } of marks) {
            const at = Math.round(plot.valToPos(x, 'x', true)) + 0.5;
            if (at < bbox.left || at > bbox.left + bbox.width) continue;
            ctx.strokeStyle = isStrong === true ? color('--ink-2') : color('--line-2');
            ctx.lineWidth = isStrong === true ? 2 : 1;
            ctx.setLineDash(isStrong === true ? [] : [3, 3]);
            ctx.beginPath();
            ctx.moveTo(at, bbox.top);
            ctx.lineTo(at, bbox.top + bbox.height);
            ctx.stroke();
          }
          ctx.restore();
        },
      ],
    },
  };
}

/** `#rrggbb` with an alpha. */
const withAlpha = (hex: string, alpha: number): string =>
  `${hex}${Math.round(alpha * 255)
    .toString(16)
    .padStart(2, '0')}`;
