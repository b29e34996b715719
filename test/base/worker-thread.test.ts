import { existsSync } from 'node:fs';
import { afterEach, describe, expect, it } from 'vitest';
import { openWorkerCalls, type WorkerCalls, workerModule } from '../../src/base/worker-thread.ts';

describe('workerModule', () => {
  it('gives the built module to a source, which lies in dist', () => {
    const source = new URL('../../src/record/recorder.ts', import.meta.url).href;
    const module = workerModule('./writer-thread.ts', source);
    expect(module.href.endsWith('.js')).toBe(true);
    expect(existsSync(module)).toBe(true);
  });

  it('gives its neighbour to a built module', () => {
    const built = 'file:///instar/dist/src/record/recorder.js';
    expect(workerModule('./writer-thread.ts', built).href).toBe(
      'file:///instar/dist/src/record/writer-thread.js',
    );
  });
});

interface Call {
  readonly say: string;
}

/** Answers as `serveWorkerCalls` does, in a module that needs no build. */
const worker = new URL(
  `data:text/javascript,${encodeURIComponent(`
    import { parentPort, workerData } from 'node:worker_threads';
    parentPort.on('message', (message) => {
      if (message === null) return parentPort.close();
      const { id, say } = message;
      if (say === 'exit') process.exit(3);
      if (say === 'throw') throw new Error('thrown');
      if (say === 'fail') parentPort.postMessage({ id, code: 'full', message: 'no room' });
      else parentPort.postMessage({ id, value: workerData.greeting + ' ' + say });
    });
  `)}`,
);

describe('calls into a worker', () => {
  const opened: WorkerCalls<Call>[] = [];
  const open = (): WorkerCalls<Call> => {
    const calls = openWorkerCalls<Call>({
      module: worker,
      workerData: { greeting: 'hello' },
      toError: (code, message) => Object.assign(new Error(message), { code }),
      endMessage: 'the worker has ended',
    });
    opened.push(calls);
    return calls;
  };
  afterEach(() => Promise.all(opened.splice(0).map((calls) => calls.close())));

  it('resolve with the value of their own reply', async () => {
    const calls = open();
    const replies = await Promise.all(['a', 'b', 'c'].map((say) => calls.call({ say })));
    expect(replies).toEqual(['hello a', 'hello b', 'hello c']);
  });

  it('reject with the code and message of the failure', async () => {
    await expect(open().call({ say: 'fail' })).rejects.toMatchObject({ code: 'full', message: 'no room' });
  });

  it.each(['exit', 'throw'])(
    'are all rejected when the worker ends by %s, and the next call starts another',
    async (say) => {
      const calls = open();
      const lost = [calls.call({ say }), calls.call({ say: 'too late' })];
      for (const call of lost)
        await expect(call).rejects.toMatchObject({ code: 'closed', message: 'the worker has ended' });
      expect(await calls.call({ say: 'again' })).toBe('hello again');
    },
  );

  it('close without a worker, and twice', async () => {
    const calls = open();
    await calls.close();
    await calls.call({ say: 'a' });
    await calls.close();
    await calls.close();
  });
});
