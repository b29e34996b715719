import { describe, expect, it, onTestFinished } from 'vitest';
import { runAgent } from '../../src/agent/agent.ts';
import { confinementHere } from '../../src/agent/sandbox/find-confiner.ts';
import { createWorkspace, type WorkspaceParts } from '../../src/agent/sandbox/workspace.ts';
import { createConfinedAgentShell, createPlainAgentShell } from '../../src/agent/shell.ts';
import { createScriptedSpeak, run } from './scripted-speak.ts';

const here = await confinementHere();
const never = new AbortController().signal;
const openWorkspace = async (parts: WorkspaceParts = {}) => {
  const workspace = await createWorkspace(parts);
  onTestFinished(() => workspace.dispose());
  return workspace;
};

describe('the plain shell of an agent', () => {
  it('returns the exit code, standard output, then standard error', async () => {
    const shell = createPlainAgentShell(await openWorkspace());
    expect(await shell('echo -n a; cat nothing; echo b', never)).toMatchObject({
      code: 0,
      output: expect.stringMatching(/^ab\ncat: nothing/),
    });
    expect(await shell('cat nothing', never)).toMatchObject({ code: 2 });
    expect(await shell('echo -n a; cat nothing', never)).toMatchObject({
      output: expect.stringMatching(/^a\ncat: /),
    });
  });

  it('reports what it refused and what it stopped', async () => {
    const workspace = await openWorkspace();
    const shell = createPlainAgentShell(workspace, { outputBytes: 10 });
    expect(await shell('ls *', never)).toEqual({
      code: 126,
      output: 'Not run: * is not supported: put it in single quotes',
      refused: '* is not supported: put it in single quotes',
    });
    expect(await shell('echo 12345; echo 12345', never)).toEqual({
      code: 141,
      output: '12345\n1234\n[stopped: it printed too much]',
    });
  });
});

describe('the confined shell of an agent', () => {
  it('runs nothing without a sandbox, and tells the model and the caller why', async () => {
    const why = 'commands cannot be confined on this machine: install bubblewrap';
    const workspace = await openWorkspace({ confinement: { ok: false, why, fix: 'get one' } });
    const script = createScriptedSpeak([{ calls: [run('echo x > made\ndone')] }, { text: 'I cannot.' }]);
    const result = await runAgent({
      speak: script.speak,
      speaker: { session: 's', agent: 'a', runKind: 'test' },
      model: 'm',
      system: '',
      history: [],
      prompt: 'Go.',
      shell: createConfinedAgentShell(workspace),
      signal: never,
    });
    expect(result).toMatchObject({ end: 'answered', commands: [{ code: 126, refused: why }] });
    expect(result.messages[2]).toMatchObject({
      isError: true,
      content: [{ text: expect.stringContaining(`Exit code: 126\nNot run: ${why}`) }],
    });
    expect(await workspace.list()).toEqual([]);
  });

  it.runIf(here.ok)(
    'runs real commands, loops too, and stops what takes too long or is aborted',
    async () => {
      const workspace = await openWorkspace();
      const shell = createConfinedAgentShell(workspace, { timeoutMs: 20_000 });
      expect(await shell('for i in 1 2; do\n  echo $i\ndone; echo bad >&2; exit 3', never)).toEqual({
        code: 3,
        output: '1\n2\nbad\n',
      });
      const brief = createConfinedAgentShell(workspace, { timeoutMs: 300 });
      expect(await brief('echo a; sleep 60', never)).toMatchObject({
        code: 124,
        output: expect.stringContaining('[stopped: it ran out of time]'),
      });
      expect(await shell('sleep 60', AbortSignal.timeout(100))).toMatchObject({ code: 130 });
    },
  );

  it.runIf(!here.ok)('is refused on this machine, which has no sandbox', async () => {
    const shell = createConfinedAgentShell(await openWorkspace());
    expect(await shell('echo x', never)).toMatchObject({ code: 126, refused: here.ok ? '' : here.why });
  });
});
