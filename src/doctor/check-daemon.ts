import { createServer } from 'node:net';
import { callDaemon } from '../config/call-daemon.ts';
import { type DaemonRecord, isAlive, readDaemonFile } from '../config/daemon-file.ts';
import type { Home } from '../config/home.ts';
import { readKey } from '../config/key.ts';
import type { Config } from '../config/schema.ts';
import { describeSettingsState } from '../config/settings-state.ts';
import { asObject, parseJson } from '../core/json.ts';
import { type DoctorCheck, failed, passed, warned } from './doctor-check.ts';
import { lookAt, quotePath } from './inspect-path.ts';

const STATUS_TIMEOUT_MS = 5_000;

/** A daemon that has this home and does not answer. `answering`: the one that does. */
export function checkDaemon(home: Home, answering: DaemonRecord | undefined): readonly DoctorCheck[] {
  if (answering !== undefined) return [];
  const record = readDaemonFile(home);
  if (record === undefined) {
    if (lookAt(home.daemonFile) === undefined) return [];
    const fix = `rm ${quotePath(home.daemonFile)}`;
    return [
      failed('daemon', `${home.daemonFile} is not readable as a record of a daemon`, fix, 'daemon-record'),
    ];
  }
  if (!isAlive(record))
    return [passed('daemon', `not running; the last one (pid ${record.pid}) ended without a clean stop`)];
  return [
    failed(
      'daemon',
      `the daemon (pid ${record.pid}) does not answer at ${record.url}`,
      'see its log (instar status --log); end it with: instar stop --force, then: instar up',
      'daemon-silent',
    ),
  ];
}

/** Whether the running daemon uses the settings of the config file, and trusts its judge. */
export async function checkRunningSettings(
  daemon: DaemonRecord | undefined,
  home: Home,
  env: NodeJS.ProcessEnv,
): Promise<readonly DoctorCheck[]> {
  if (daemon === undefined || !isAlive(daemon)) return [];
  try {
    const key = readKey(home, env)?.key ?? '';
    const headers = { authorization: `Bearer ${key}` };
    const reply = await callDaemon(daemon, '/api/status', { headers, timeoutMs: STATUS_TIMEOUT_MS });
    const { settings, learning } = asObject(parseJson(reply.text));
    const { judge, models } = asObject(learning);
    const { isTrusted, said, testedModel } = asObject(judge);
    const isOff = isTrusted === false && testedModel === asObject(models).judge;
    return [
      ...describeSettingsState(settings).map(({ what, fix }) => warned('settings', what, fix)),
      ...(isOff ? [warned('judge', String(said), 'name another model as models.judge')] : []),
    ];
  } catch {
    // A daemon that does not answer, or a faulty key, is reported by its own check.
    return [];
  }
}

/** Whether the configured port can be used, by us. */
export async function checkPort(daemon: DaemonRecord | undefined, { gateway }: Config): Promise<DoctorCheck> {
  if (daemon) return passed('port', `Instar is running at ${daemon.url} (pid ${daemon.pid})`);
  const { port, host } = gateway;
  if (port === 0) return passed('port', 'a free port is chosen at start');
  const fault = await new Promise<string | undefined>((resolve) => {
    const server = createServer()
      .once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
      .listen({ port, host, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
  if (fault === undefined) return passed('port', `${port} on ${host} is free`);
  return fault === 'EADDRINUSE'
    ? failed(
        'port',
        `another program listens on ${port}`,
        'set gateway.port, or start with --port',
        'port-taken',
      )
    : failed('port', `${host}:${port} cannot be used (${fault})`, 'set gateway.host and gateway.port');
}
