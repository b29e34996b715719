// A real daemon, as a process of its own, whose recall does not depend on how busy the machine is.
import { openHome } from '../../build/src/config/home.js';
import { loadConfig } from '../../build/src/config/load-config.js';
import { startDaemon } from '../../build/src/daemon/daemon.js';
import { createNgramEmbed } from '../../build/src/embed/ngram-embed.js';
import { createLog } from '../../build/src/redact/create-log.js';

const home = openHome(process.argv[2]);
const { config } = loadConfig({ file: home.configFile, env: {} });
const daemon = await startDaemon({
  home,
  config,
  env: {},
  log: createLog({ format: 'json', level: 'warn' }),
  port: 0,
  isUnhurried: true,
  embed: createNgramEmbed(),
});
process.stdout.write(`ready ${daemon.port}\n`);
process.on('SIGTERM', () => void daemon.close().then(() => process.exit(0)));
