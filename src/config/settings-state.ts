import { asArray, asObject, asString } from '../core/json.ts';

/** Logged and shown when the file cannot be used. */
export const KEPT_SETTINGS = 'the config file has a problem, so the settings before it stay in force';

/** What the `describe` of live settings says, for people: nothing when the settings in force are those of the file. */
export function describeSettingsState(
  state: unknown,
): readonly { readonly what: string; readonly fix: string }[] {
  const { problem, restart, waiting, shared } = asObject(state);
  const paths = asArray(restart).flatMap((path) => asString(path) ?? []);
  const why = asString(problem)?.replace(/\n\s*/g, ' ');
  return [
    ...(why === undefined ? [] : [{ what: `${KEPT_SETTINGS}: ${why}`, fix: 'instar config check' }]),
    ...(paths.length === 0 ? [] : [{ what: restartOf(paths), fix: RESTART }]),
    ...asArray(waiting)
      .map(asObject)
      .map(({ path, asked, used }) => ({
        what: `${String(path)} "${String(asked)}" needs your confirmation; until then "${String(used)}" is used`,
        fix: 'instar config check --confirm',
      })),
    ...asArray(asObject(shared).ignored)
      .map(asObject)
      .map(({ path, why }) => ({
        what: `the shared setting ${String(path)} is ignored here: ${String(why)}`,
        fix: 'instar config get --shared',
      })),
  ];
}

const RESTART = 'instar stop && instar up';
const restartOf = (paths: readonly string[]): string =>
  `${paths.join(', ')} ${paths.length === 1 ? 'changes' : 'change'} at the next start`;

/** `gateway.port changes at the next start: instar stop && instar up`. */
export const describeRestart = (paths: readonly string[]): string => `${restartOf(paths)}: ${RESTART}`;
