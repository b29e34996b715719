import { type DescribedShared, decodeSettings } from '../config/describe-settings.ts';
import { readSettingPath, readSettingValue } from '../config/edit-config.ts';
import { parseSettingPath, renderPath } from '../config/setting-path.ts';
import type { Json } from '../core/json.ts';
import type { Part } from './print.ts';
import { showReload } from './show-reload.ts';
import { onApi } from './with-api.ts';

/** The settings that all gateways of the record share, and what this one makes of each. */
export const getShared = onApi(
  async ({ text }: { readonly text?: string | undefined }, { keysApi, printer }) => {
    const name = text === undefined ? undefined : renderPath(parseSettingPath(text) ?? [text]);
    const { shared } = decodeSettings(await keysApi.settings());
    const found = shared.filter(({ path }) => name === undefined || `${path}.`.startsWith(`${name}.`));
    printer.document({ shared: found });
    if (found.length === 0)
      printer.line(name === undefined ? 'No setting is shared.' : `${name} is not shared.`);
    else
      printer.table(['SETTING', 'VALUE', 'HERE'], found, (one) => [one.path, textOf(one.value), hereOf(one)]);
  },
);

function hereOf({ state, why }: DescribedShared): Part {
  if (state === 'used') return 'in use';
  if (state === 'overruled')
    return { text: 'the config file here says otherwise, and wins', style: 'yellow' };
  return { text: `ignored: ${why ?? ''}`, style: 'yellow' };
}

const textOf = (value: Json): string => (typeof value === 'string' ? value : JSON.stringify(value));

interface SharedEdit {
  readonly name: string;
  /** Undefined: it is taken back. */
  readonly text?: string | undefined;
}

/** Sets a setting of all gateways, or without a value takes it back. */
export const changeShared = onApi(async ({ name, text }: SharedEdit, { keysApi, printer }) => {
  const path = text === undefined ? name : renderPath(readSettingPath(name));
  const edit =
    text === undefined ? { unset: true } : { value: readSettingValue(readSettingPath(name), text) };
  const report = await keysApi.setSetting({ path, ...edit, shared: true });
  const { shared } = decodeSettings(await keysApi.settings());
  const isSame = report.isSame === true;
  printer.document(report);
  if (text === undefined) printer.line(`${path} ${isSame ? 'is not shared' : 'is shared no longer'}.`);
  else printer.line(`${path} ${isSame ? 'is already' : 'is now'} ${text} for all gateways of the record.`);
  for (const one of shared.filter((found) => `${found.path}.`.startsWith(`${path}.`)))
    if (one.state === 'overruled')
      printer.note(
        { text: '  here    ', style: 'yellow' },
        `the config file here says otherwise about ${one.path}, and wins: instar config set --default ${one.path}`,
      );
  if (report.running === true && !isSame) showReload(printer, report);
}, true);
