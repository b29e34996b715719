import { applyConfirmed } from '../config/confirmed-settings.ts';
import { homeAt } from '../config/home.ts';
import { loadConfig } from '../config/load-config.ts';
import { confirmOwner } from './confirm-owner.ts';
import { type CommandContext, type DeclareCommand, EXIT, type ExitCode } from './context.ts';
import { withApi } from './with-api.ts';

export const declareConfig: DeclareCommand = (config, act) =>
  void config
    .command('confirm')
    .description('Confirm settings that give learning more freedom and were edited in the config file.')
    .action(act(confirmConfig));

/** Asks for every waiting setting, then records the owner's word. */
async function confirmConfig(_options: object, context: CommandContext): Promise<ExitCode> {
  const home = homeAt(context.homeDir);
  const { waiting } = applyConfirmed(loadConfig({ file: home.configFile, env: context.env }).config, home);
  const { printer } = context;
  if (waiting.length === 0) {
    if (printer.json) printer.document({ confirmed: [] });
    else printer.line('No setting waits for confirmation.');
    return EXIT.ok;
  }
  for (const { path, asked, used } of waiting)
    await confirmOwner(context, `Set ${path} to "${asked}" (now "${used}")? ${MEANING[asked] ?? ''}`);
  const settings = Object.fromEntries(waiting.map(({ path, asked }) => [path, asked]));
  return withApi(
    context,
    async ({ keysApi }) => {
      await keysApi.confirm(settings);
      for (const { path, asked } of waiting) printer.line(`Confirmed ${path} "${asked}".`);
      printer.note('it takes effect when Instar is started again');
      return EXIT.ok;
    },
    true,
  );
}

const MEANING: Readonly<Record<string, string>> = {
  autonomous: 'Everything that passes the gate then goes live without a trial.',
};
