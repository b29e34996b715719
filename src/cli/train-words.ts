import type { Part, Printer } from './print.ts';

/** What the desk tells of training, as it comes. */
export type Told = Readonly<Record<string, unknown>>;

export const membersOf = (value: unknown): Told =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Told) : {};

/** How far a window has come, in one line. */
export function progressOf(window: Told): string {
  const parts = [`step ${window.done} of ${window.steps}`];
  if (typeof window.reward === 'number') parts.push(`reward ${window.reward.toFixed(2)}`);
  if (typeof window.completion === 'number') parts.push(`${percent(window.completion)} complete`);
  const pairs = membersOf(window.pairs);
  if (typeof pairs.count === 'number')
    parts.push(`${pairs.count} pairs: new ${percent(pairs.candidate)}, live ${percent(pairs.live)}`);
  return parts.join(' · ');
}

export function showTraining(printer: Printer, told: Told): void {
  const { query, support } = membersOf(told.buffer);
  const versions = membersOf(told.versions);
  const trial = membersOf(versions.onTrial);
  const window = membersOf(told.window);
  const rows: (readonly Part[] | undefined)[] = [
    row('engine', told.engineState === undefined ? `${told.engine}` : `${told.engine} (${told.engineState})`),
    told.policy === '' ? undefined : row('serves', `${told.policy}`),
    told.adapter === undefined ? undefined : row('adapter', `${told.adapter}`),
    versions.previous === undefined ? undefined : row('before', `version ${versions.previous}`),
    trial.version === undefined ? undefined : row('on trial', trialWords(trial)),
    window.steps === undefined ? undefined : row('window', windowWords(window)),
    ...movesOf(window).map((move) => row('', move)),
    window.problem === undefined ? undefined : row('problem', `${window.problem}`),
    row('generation', `${told.generation}`),
    row('samples', `${query} may train; ${support} failures are for the library alone`),
  ];
  printer.table(rows.filter((one) => one !== undefined));
}

export const movesOf = (window: Told): readonly string[] =>
  Array.isArray(window.moves) ? window.moves.map(String) : [];

/** What a version on trial waits for. */
export const trialWords = ({ version, stage, pairs, sessions }: Told): string =>
  stage === 'canary'
    ? `version ${version}, canary: ${sessions} sessions have said how it was`
    : `version ${version}, candidate: ${pairs} held-out tasks weighed`;

const windowWords = (window: Told): string =>
  `${window.isRunning === true ? 'runs' : 'ended'}: ${progressOf(window)}`;
const row = (name: string, text: string): readonly Part[] => [{ text: name, style: 'dim' }, text];
const percent = (share: unknown): string => `${Math.round(100 * Number(share))} %`;
