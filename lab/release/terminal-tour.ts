import { terminalFrame, terminalRows } from './terminal-picture.ts';

/** One step of a tour: what was typed and what was printed, with ANSI colours. */
interface TourScene {
  /** What the person wants; shown above the command. */
  readonly why: string;
  readonly command: string;
  readonly output: string;
}

interface TourOptions {
  readonly columns: number;
  /** Rows of the window; longer outputs are cut, and say so. */
  readonly rows: number;
  readonly seconds: number;
  readonly title: string;
  /** The scene that is shown where people prefer no motion. */
  readonly still: number;
}

const GREEN = '\u001b[32m';
const BOLD = '\u001b[1m';
const DIMMED = '\u001b[2m';
const END = '\u001b[0m';
/** A scene has time for its output to be read: each row counts, and so does the change of scene. */
const ROWS_OF_A_CHANGE = 5;
const TYPING_SECONDS = 1.2;

/**
 * An animated picture (SVG, no script) of a session in a terminal: each scene shows its command being typed, then what it
 * printed. It lasts `seconds` and begins again. Who prefers no motion, and a program that draws none, sees one scene.
 */
export function drawTour(scenes: readonly TourScene[], options: TourOptions): string {
  const { columns, rows, seconds, title, still } = options;
  const drawn = scenes.map((scene) => drawScene(scene, columns, rows));
  const weights = drawn.map(({ size }) => size + ROWS_OF_A_CHANGE);
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  let at = 0;
  const timed = drawn.map((scene, nth) => {
    const start = at;
    at += ((weights[nth] ?? 0) / whole) * seconds;
    return { ...scene, nth, start, end: at };
  });
  const share = (second: number): string => `${((100 * second) / seconds).toFixed(2)}%`;
  const shown = (name: string, from: number, to: number): string =>
    `@keyframes ${name}{0%,${share(Math.max(0, from - 0.01))}{opacity:0}${share(from)},${share(to)}{opacity:1}${share(Math.min(seconds, to + 0.01))},100%{opacity:0}}`;
  const rules = timed.flatMap(({ nth, start, end }) => {
    const typed = start + TYPING_SECONDS;
    return [
      shown(`a${nth}`, start, end),
      shown(`b${nth}`, typed, end),
      `@keyframes t${nth}{0%,${share(start)}{clip-path:inset(0 100% 0 0)}${share(typed)},100%{clip-path:inset(0 0 0 0)}}`,
      `.a${nth}{animation:a${nth} ${seconds}s infinite}.b${nth}{animation:b${nth} ${seconds}s infinite}.t${nth}{animation:t${nth} ${seconds}s linear infinite}`,
    ];
  });
  const calm = `@media (prefers-reduced-motion:reduce){.scene,.out,.typed{animation:none}.scene{opacity:0}.out{opacity:1}.still{opacity:1}}`;
  const content = timed.map(
    ({ nth, caption, command, output }) =>
      `<g class="scene a${nth}${nth === still ? ' still' : ''}"${nth === still ? '' : ' opacity="0"'}>${caption.join('')}<g class="typed t${nth}">${command.join('')}</g><g class="out b${nth}">${output.join('')}</g></g>`,
  );
  return terminalFrame({ rows, columns, title, content, style: [...rules, calm].join('') });
}

function drawScene({ why, command, output }: TourScene, columns: number, rows: number) {
  const caption = terminalRows([`${DIMMED}# ${why}${END}`], columns);
  const typed = terminalRows([`${GREEN}$${END} ${BOLD}${command}${END}`], columns, caption.length);
  const above = caption.length + typed.length;
  const lines = output.trimEnd().split('\n');
  const all = terminalRows(lines, columns, above);
  const room = rows - above;
  const cut =
    all.length <= room
      ? all
      : [...all.slice(0, room - 1), ...terminalRows([`${DIMMED}…${END}`], columns, rows - 1)];
  return { caption, command: typed, output: cut, size: above + cut.length };
}
