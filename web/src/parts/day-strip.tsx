import type { PlannedWindow } from '../lib/api-shapes.ts';
import { clockTime, toMs } from '../lib/format.ts';
import { linkTo } from '../lib/route.ts';
import { JOB_WORDS } from '../lib/schedule-words.ts';
import { useNow } from './time.tsx';

const DAY_MS = 86_400_000;
const HOURS = 24;
const WIDTH = 960;
const HEIGHT = 40;
/** A label that is nearer to the beginning would stand on the word there. */
const BESIDE_NOW = 0.08;

/** The next 24 hours as a strip, with the windows in which background work may run. */
export function DayStrip({ windows }: { readonly windows: readonly PlannedWindow[] }) {
  const now = useNow();
  const x = (at: number): number => Math.min(1, Math.max(0, (at - now) / DAY_MS)) * WIDTH;
  const first = Math.ceil(now / 3_600_000) * 3_600_000;
  const hours = Array.from({ length: HOURS }, (_, index) => first + index * 3_600_000);
  const shown = windows.map((one) => ({
    ...one,
    start: toMs(one.from),
    end: one.until === undefined ? now + DAY_MS : toMs(one.until),
  }));
  return (
    <>
      <svg
        class="strip"
        viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={
          windows.length === 0
            ? 'No window is planned'
            : windows
                .map(
                  ({ from, until, why, for: jobs = [] }) =>
                    `${clockTime(from)} to ${until === undefined ? 'open end' : clockTime(until)}: ${why}, for ${jobs.join(', ')}`,
                )
                .join('; ')
        }
      >
        <rect class="strip-day" x={0} y={0} width={WIDTH} height={HEIGHT} />
        {hours.map((hour) => (
          <line
            key={hour}
            class={new Date(hour).getHours() % 6 === 0 ? 'strip-hour is-strong' : 'strip-hour'}
            x1={x(hour)}
            x2={x(hour)}
            y1={0}
            y2={HEIGHT}
          />
        ))}
        {shown.map(({ from, start, end }) => (
          <rect
            key={from}
            class="strip-window"
            x={x(start)}
            width={Math.max(2, x(end) - x(start))}
            y={8}
            height={HEIGHT - 16}
          />
        ))}
      </svg>
      <div class="strip-hours dim small num" aria-hidden="true">
        <span>now</span>
        {hours
          .filter((hour) => new Date(hour).getHours() % 6 === 0 && x(hour) > WIDTH * BESIDE_NOW)
          .map((hour) => (
            <span key={hour} class="strip-label" style={{ left: `${(x(hour) / WIDTH) * 100}%` }}>
              {clockTime(hour)}
            </span>
          ))}
      </div>
      {windows.length === 0 ? (
        <p class="dim">No window is planned. One opens after enough time without input.</p>
      ) : (
        <ul class="plain-list small">
          {windows.map((window) => (
            <li key={window.from}>
              <WindowLine window={window} />
            </li>
          ))}
        </ul>
      )}
    </>
  );
}

function WindowLine({
  window: { from, until, source, why, for: jobs = [] },
}: {
  readonly window: PlannedWindow;
}) {
  return (
    <>
      <span class="num strip-time">
        {clockTime(from)} – {until === undefined ? 'open' : clockTime(until)}
      </span>{' '}
      {why}
      {source !== undefined && !why.includes(source) && <span class="dim"> ({source})</span>}
      {jobs.length > 0 && (
        <>
          {'; for '}
          {jobs.map((job, index) => {
            const [words, view] = JOB_WORDS[job] ?? [job, 'lab/training'];
            return (
              <span key={job}>
                {index > 0 && ', '}
                <a href={linkTo(view.split('/'))}>{words}</a>
              </span>
            );
          })}
        </>
      )}
    </>
  );
}
