import { type DescribedShared, decodeSettings } from '../config/describe-settings.ts';
import { readSettingPath, readSettingValue } from '../config/edit-config.ts';
import { parseSettingPath, renderPath } from '../config/setting-path.ts';
import type { Json, JsonObject } from '../core/json.ts';
import { type CommandContext, EXIT, type ExitCode } from './context.ts';
import { dim, type Part } from './print.ts';
import { showReload } from './show-reload.ts';
import { withApi } from './with-api.ts';

/** The settings that all gateways of the record share, and what this one makes of each. */
export function getShared(text: string | undefined, context: CommandContext): Promise<ExitCode> {
  const { printer } = context;
  const name = text === undefined ? undefined : renderPath(parseSettingPath(text) ?? [text]);
  return withApi(context, async ({ keysApi }) => {
    const { shared } = decodeSettings(await keysApi.settings());
    const found = shared.filter(({ path }) => name === undefined || `${path}.`.startsWith(`${name}.`));
    if (printer.json) printer.document({ shared: found });
    else if (found.length === 0)
      printer.line(name === undefined ? 'No setting is shared.' : `${name} is not shared.`);
    else
      printer.table([
        [dim('SETTING'), dim('VALUE'), dim('HERE')],
        ...found.map((one): Part[] => [one.path, textOf(one.value), hereOf(one)]),
      ]);
    return EXIT.ok;
  });
}

function hereOf({ state, why }: DescribedShared): Part {
  if (state === 'used') return 'in use';
  if (state === 'overruled')
    return { text: 'the config file here says otherwise, and wins', style: 'yellow' };
  return { text: `ignored: ${why ?? ''}`, style: 'yellow' };
}

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** Sets a setting of all gateways, or without a value takes it back. */
export function changeShared(
  name: string,
  text: string | undefined,
  context: CommandContext,
): Promise<ExitCode> {
  return withApi(
    context,
    async ({ keysApi }) => {
      const path = text === undefined ? name : renderPath(readSettingPath(name));
      const edit =
        text === undefined ? { unset: true } : { value: readSettingValue(readSettingPath(name), text) };
      const report = await keysApi.setSetting({ path, ...edit, shared: true });
      const { shared } = decodeSettings(await keysApi.settings());
      showShared(context, { report, path, text, shared });
      return EXIT.ok;
    },
    true,
  );
}

interface SharedChange {
  readonly report: JsonObject;
  readonly path: string;
  /** Undefined: it was taken back. */
  readonly text: string | undefined;
  readonly shared: readonly DescribedShared[];
}

function showShared({ printer }: CommandContext, { report, path, text, shared }: SharedChange): void {
  if (printer.json) {
    printer.document(report);
    return;
  }
  const isSame = report.isSame === true;
  if (text === undefined) printer.line(`${path} ${isSame ? 'is not shared' : 'is shared no longer'}.`);
  else printer.line(`${path} ${isSame ? 'is already' : 'is now'} ${text} for all gateways of the record.`);
  for (const one of shared.filter((found) => `${found.path}.`.startsWith(`${path}.`)))
    if (one.state === 'overruled')
      printer.note(
        { text: '  here    ', style: 'yellow' },
        `the config file here says otherwise about ${one.path}, and wins: instar config set --default ${one.path}`,
      );
  if (report.running === true && !isSame) showReload(printer, report);
}
