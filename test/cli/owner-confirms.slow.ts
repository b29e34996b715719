import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { homeAt, openHome } from '../../src/config/home.ts';
import { readOrCreateOwnerKey } from '../../src/config/owner-key.ts';
import { createTemporaryFolder, runInProcess } from './run-cli.ts';

let folder: ReturnType<typeof createTemporaryFolder>;
beforeEach(() => {
  folder = createTemporaryFolder();
});
afterEach(() => folder.remove());

const run = (args: readonly string[], keys?: readonly string[]) =>
  runInProcess([...args, '--home', folder.dir], {}, keys && { keys });

async function proposeSkill(): Promise<void> {
  const dir = join(folder.dir, 'from', 'sort-keys');
  mkdirSync(dir, { recursive: true });
  writeFileSync(
    join(dir, 'SKILL.md'),
    '---\nname: sort-keys\ndescription: When you write JSON.\n---\nSort the keys.\n',
  );
  await run(['lessons', 'import', join(folder.dir, 'from'), '--as', 'proposed']);
}
const stateOf = async (name: string) =>
  JSON.parse((await run(['lessons', 'show', name, '--json'])).stdout).state;

describe('what gives an agent more influence', () => {
  it('is confirmed by a person at a terminal: without one an approval is refused, whatever flags it has', async () => {
    await proposeSkill();
    const refused = await run(['lessons', 'approve', 'sort-keys']);
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain('Only a person at a terminal can confirm this');
    expect((await run(['lessons', 'approve', 'sort-keys', '--yes'])).code).toBe(2);
    expect(await stateOf('sort-keys')).toBe('proposed');
  });

  it('is shown to the person in full before it is approved, and no means no', async () => {
    await proposeSkill();
    const declined = await run(['lessons', 'approve', 'sort-keys'], ['n']);
    expect(declined.stderr).toContain('Sort the keys.');
    expect(declined.stderr).toContain('not confirmed; nothing was changed');
    expect(await stateOf('sort-keys')).toBe('proposed');
    expect((await run(['lessons', 'approve', 'sort-keys'], ['y'])).code).toBe(0);
    expect(await stateOf('sort-keys')).toBe('trial');
  });

  it('waits when it is edited in the config file, and says so', async () => {
    writeFileSync(join(folder.dir, 'config.json'), JSON.stringify({ library: { autonomy: 'autonomous' } }));
    expect((await run(['config', 'confirm'])).stderr).toContain('Only a person at a terminal');
    const done = await run(['config', 'confirm'], ['y']);
    expect(done).toMatchObject({ code: 0, stdout: 'Confirmed library.autonomy "autonomous".\n' });
    expect(JSON.parse(readFileSync(homeAt(folder.dir).confirmedFile, 'utf8'))).toMatchObject({
      'library.autonomy': 'autonomous',
    });
    expect((await run(['config', 'confirm'])).stdout).toBe('No setting waits for confirmation.\n');
  });

  it('is in the audit trail with the key that did it', async () => {
    await proposeSkill();
    await run(['lessons', 'approve', 'sort-keys'], ['y']);
    const { entries, fault } = JSON.parse((await run(['keys', 'audit', '--json'])).stdout);
    expect(fault).toBeUndefined();
    expect(entries[0]).toMatchObject({
      action: 'lessons.change',
      subject: expect.stringMatching(/^move .* to trial$/),
    });
  });

  it('a key whose feedback counts as a person’s is one of these', async () => {
    expect((await run(['keys', 'create', 'app', '--may', 'feedback'])).stderr).toContain(
      'Only a person at a terminal',
    );
    const made = await run(['keys', 'create', 'app', '--may', 'feedback'], ['y']);
    expect(made.stdout).toMatch(/^instar_caller_[\w-]{43}\n$/);
    const [, app] = JSON.parse((await run(['keys', 'list', '--json'])).stdout).map(
      ({ name, may }: { name: string; may: string[] }) => `${name}: ${may}`,
    );
    expect(app ?? 'app: ask,feedback').toBe('app: ask,feedback');
  });
});

describe('a protected owner key', () => {
  it('is asked for at the terminal, and without one nothing that needs it works', async () => {
    const { key = '' } = readOrCreateOwnerKey(openHome(folder.dir), {});
    await proposeSkill();
    const done = await run(['keys', 'protect', '--passphrase'], ['correct horse\r', 'correct horse\r']);
    expect(done.code).toBe(0);
    expect(readFileSync(homeAt(folder.dir).ownerKeyFile, 'utf8')).not.toContain(key);
    expect((await run(['lessons', 'list'])).stderr).toContain('protected by a passphrase');
    expect((await run(['lessons', 'list'], ['wrong horse\r'])).stderr).toContain('does not open');
    expect((await run(['lessons', 'list'], ['correct horse\r'])).stdout).toContain('Sort keys');
  });
});
