import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loginHint } from '../../src/cli/autostart.ts';
import { type AutostartTarget, homeOfUnit, planAutostart } from '../../src/cli/autostart-plan.ts';
import { createTemporaryFolder, runInProcess } from './run-cli.ts';

let folder: ReturnType<typeof createTemporaryFolder>;
beforeEach(() => {
  folder = createTemporaryFolder();
});
afterEach(() => folder.remove());

const target = (change: Partial<AutostartTarget> = {}): AutostartTarget => ({
  platform: 'linux',
  env: { HOME: '/home/u', PATH: '/home/u/.local/bin:relative:/usr/bin', OPENAI_API_KEY: 'sk-do-not-copy' },
  uid: 501,
  node: '/opt/node/bin/node',
  main: '/opt/instar/dist/src/cli/main.js',
  homeDir: '/home/u/.instar',
  needsSetuid: false,
  ...change,
});
const plan = (change?: Partial<AutostartTarget>) => {
  const made = planAutostart(target(change));
  if (made === undefined) throw new Error('no plan');
  return made;
};

describe('the unit of instar service', () => {
  it('runs absolute paths with --home and a PATH, and holds no key of the shell that installs it', () => {
    const { file, text } = plan();
    expect(file).toBe('/home/u/.config/systemd/user/instar.service');
    expect(text).toContain(
      'ExecStart="/opt/node/bin/node" "/opt/instar/dist/src/cli/main.js" "--home" "/home/u/.instar" "up"\n',
    );
    expect(text).toContain(
      'Environment="PATH=/opt/node/bin:/home/u/.local/bin:/usr/bin:/usr/local/bin:/bin"\n',
    );
    expect(text).toContain('EnvironmentFile=-/home/u/.instar/env\n');
    expect(text).toContain('Restart=on-failure\n');
    expect(text).not.toContain('sk-do-not-copy');
    expect(plan({ env: { XDG_CONFIG_HOME: '/cfg' } }).file).toBe('/cfg/systemd/user/instar.service');
  });

  it('leaves out NoNewPrivileges where the sandbox is setuid (it would end the sandbox)', () => {
    expect(plan().text).toMatch(/^NoNewPrivileges=yes$/m);
    expect(plan({ needsSetuid: true }).text).not.toMatch(/^NoNewPrivileges/m);
  });

  it('escapes what systemd would expand or split, and finds its home again', () => {
    const homeDir = '/home/u/my "home" 50% $HOME';
    const { text } = plan({ homeDir });
    expect(text).toContain('"/home/u/my \\"home\\" 50%% $$HOME"');
    expect(homeOfUnit(text)).toBe(homeDir);
    const agent = plan({ platform: 'darwin', homeDir: '/Users/u/a & <b>' });
    expect(agent.text).toContain('<string>/Users/u/a &amp; &lt;b&gt;</string>');
    expect(homeOfUnit(agent.text)).toBe('/Users/u/a & <b>');
  });

  it('is accepted by systemd without a remark', ({ skip }) => {
    const file = join(folder.dir, 'instar.service');
    writeFileSync(file, plan({ node: process.execPath, main: import.meta.filename }).text);
    const done = spawnSync('systemd-analyze', ['verify', '--user', file], {
      encoding: 'utf8',
      env: { ...process.env, XDG_RUNTIME_DIR: folder.dir },
    });
    if (done.error !== undefined || /Failed to initialize manager/.test(done.stderr)) skip();
    expect(done.stderr).toBe('');
  });

  it('is an agent of launchd on macOS, which reads the file of keys through a shell without expanding paths', () => {
    const { file, text, install, stop } = plan({ platform: 'darwin' });
    expect(file).toBe('/home/u/Library/LaunchAgents/instar.plist');
    expect(install({ isChanged: false, start: true })).toEqual([['launchctl', 'bootstrap', 'gui/501', file]]);
    expect(stop).toEqual([['launchctl', 'bootout', 'gui/501/instar']]);
    const args = [...text.matchAll(/^ {4}<string>(.*)<\/string>$/gm)].map(([, arg = '']) => arg);
    expect(args.slice(0, 4)).toEqual([
      '/bin/sh',
      '-c',
      expect.stringContaining('exec'),
      '/home/u/.instar/env',
    ]);
    // The same line, with a program that prints what it got.
    const env = join(folder.dir, 'env $x');
    writeFileSync(env, 'OPENAI_API_KEY=from-the-file\n');
    const script = args[2]?.replaceAll('&quot;', '"') ?? '';
    const print = 'console.log(process.env.OPENAI_API_KEY, process.argv[1])';
    const run = (file: string) =>
      spawnSync('/bin/sh', ['-c', script, file, process.execPath, '-e', print, '$HOME'], {
        encoding: 'utf8',
        env: {},
      });
    expect(run(env).stdout).toBe('from-the-file $HOME\n');
    expect(run(join(folder.dir, 'missing')).stdout).toBe('undefined $HOME\n');
  });

  it('is not made for a system that it does not know', () => {
    expect(planAutostart(target({ platform: 'win32' }))).toBeUndefined();
    const command = ['C:\\Program Files\\nodejs\\node.exe', 'C:\\instar\\main.js', 'up'];
    expect(loginHint('win32', command)).toContain(
      '/tr "\\"C:\\Program Files\\nodejs\\node.exe\\" \\"C:\\instar\\main.js\\" \\"up\\""',
    );
  });
});

/** A user's account whose `systemctl` writes down what it was asked. */
function account({ hasManager = true } = {}) {
  const bin = join(folder.dir, 'bin');
  const [calls, active] = [join(folder.dir, 'calls'), join(folder.dir, 'active')];
  mkdirSync(bin, { recursive: true });
  const script = `#!/bin/sh
echo "$*" >> ${calls}
${hasManager ? '' : 'echo "Failed to connect to bus" >&2; exit 1'}
case "$*" in
  *is-active*) test -e ${active} ;;
  *--now*|*restart*) touch ${active} ;;
esac
`;
  for (const name of ['systemctl', 'loginctl']) {
    writeFileSync(join(bin, name), script);
    chmodSync(join(bin, name), 0o755);
  }
  const home = join(folder.dir, 'home');
  const unit = join(folder.dir, '.config/systemd/user/instar.service');
  const run = (args: readonly string[], env: NodeJS.ProcessEnv = {}) =>
    runInProcess(['service', ...args, '--home', home], {
      HOME: folder.dir,
      PATH: `${bin}:${process.env.PATH}`,
      ...env,
    });
  const asked = (): string[] => {
    const lines = existsSync(calls) ? readFileSync(calls, 'utf8').trim().split('\n') : [];
    rmSync(calls, { force: true });
    return lines.filter((line) => !/is-active|show-environment|show-user/.test(line));
  };
  return { home, unit, run, asked };
}

describe.runIf(process.platform === 'linux')('instar service', () => {
  it('installs, starts, says which keys the unit lacks, is idempotent, and removes itself', async () => {
    const { home, unit, run, asked } = account();
    const first = await run(['install'], { OPENAI_API_KEY: 'sk-do-not-copy' });
    expect(first.code).toBe(0);
    expect(first.stdout).toContain(`Installed: ${unit}`);
    expect(first.stderr).toContain(
      `provider "openai" needs OPENAI_API_KEY, which the unit does not see: write OPENAI_API_KEY=… into ${join(home, 'env')} (chmod 600)`,
    );
    expect(first.stderr).toContain('loginctl enable-linger');
    expect(asked()).toEqual(['--user daemon-reload', '--user enable --now instar.service']);
    expect(readFileSync(unit, 'utf8')).not.toContain('sk-do-not-copy');

    writeFileSync(join(home, 'env'), 'OPENAI_API_KEY=x\n', { mode: 0o644 });
    const again = await run(['install'], { OPENAI_API_KEY: 'sk-do-not-copy' });
    expect(again.stdout).toContain('Already installed');
    expect(again.stderr).not.toContain('needs OPENAI_API_KEY');
    expect(again.stderr).toContain('readable by others: chmod 600');
    asked();
    const status = JSON.parse((await run(['status', '--json'])).stdout);
    expect(status).toMatchObject({ installed: true, running: true, home });

    const removed = await run(['remove']);
    expect(removed.stdout).toContain('no longer starts by itself');
    expect(asked()).toEqual(['--user disable --now instar.service', '--user daemon-reload']);
    expect(existsSync(unit)).toBe(false);
    const nothing = await run(['remove']);
    expect([nothing.code, nothing.stdout]).toEqual([0, `Not installed: there is no ${unit}.\n`]);
    expect((await run(['status'])).code).toBe(1);
  });

  it('keeps a unit of somebody else and puts it back (does not overwrite it), also a link', async () => {
    const { unit, run } = account();
    mkdirSync(dirname(unit), { recursive: true });
    writeFileSync(unit, '[Service]\nExecStart=/usr/bin/other\n');
    const refused = await run(['remove']);
    expect([refused.code, refused.stderr.includes('was not written by Instar')]).toEqual([1, true]);
    expect((await run(['install'])).stdout).toContain(`is kept as ${unit}.before-instar`);
    expect((await run(['remove'])).stdout).toContain('The unit that was there before is back');
    expect(readFileSync(unit, 'utf8')).toContain('/usr/bin/other');
    rmSync(unit);
    symlinkSync('/dev/null', unit);
    await run(['install']);
    expect(readFileSync(unit, 'utf8')).toContain('ExecStart=');
  });

  it('replaces its own older unit and restarts it', async () => {
    const { unit, run, asked } = account();
    await run(['install']);
    writeFileSync(unit, `${readFileSync(unit, 'utf8')}# older\n`);
    asked();
    await run(['install']);
    expect(asked()).toEqual([
      '--user daemon-reload',
      '--user enable instar.service',
      '--user restart instar.service',
    ]);
    expect(readFileSync(unit, 'utf8')).not.toContain('# older');
  });

  it('refuses to replace the unit of another home', async () => {
    const { unit, run } = account();
    await run(['install']);
    const text = readFileSync(unit, 'utf8').replaceAll(join(folder.dir, 'home'), '/elsewhere');
    writeFileSync(unit, text);
    const { code, stderr } = await run(['install']);
    expect(code).toBe(1);
    expect(stderr).toContain('instar service remove --home /elsewhere');
    expect(readFileSync(unit, 'utf8')).toBe(text);
  });

  it('installs nothing where systemd does not answer, and says what to do instead', async () => {
    const { unit, run } = account({ hasManager: false });
    const { code, stderr } = await run(['install']);
    expect(code).toBe(1);
    expect(stderr).toContain('Failed to connect to bus');
    expect(stderr).toMatch(/@reboot\): .*main\.js --home .* up/);
    expect(existsSync(unit)).toBe(false);
    expect((await run(['install', '--print'])).stdout).toContain('[Service]');
  });
});
