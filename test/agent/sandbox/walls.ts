import type { Confiner } from '../../../src/agent/sandbox/confiner.ts';
import { createBubblewrap, createUnshare } from '../../../src/agent/sandbox/confiner.ts';
import { findProgram, verifyConfiner } from '../../../src/agent/sandbox/find-confiner.ts';
import { createSeccompFilter, perlLoader } from '../../../src/agent/sandbox/seccomp-filter.ts';

interface Wall {
  readonly name: string;
  readonly confiner: Confiner;
  /** Why it cannot be had on this machine. */
  readonly fault?: string;
}

/** Every way to build a wall, tried here: with bubblewrap and unshare, as root who drops to nobody and as a plain user. */
export async function wallsHere(): Promise<readonly Wall[]> {
  const isRoot = process.getuid?.() === 0;
  const walls: Wall[] = [];
  const filter = createSeccompFilter(process.arch);
  const perl = await findProgram('perl', process.env.PATH ?? '');
  const loader = perl === undefined ? undefined : perlLoader(perl, process.arch);
  const filtered = {
    ...(filter === undefined ? {} : { filter }),
    ...(loader === undefined ? {} : { loader }),
  };
  for (const [program, create, parts] of [
    ['bwrap', createBubblewrap, filtered],
    ['bwrap', createBubblewrap, {}],
    ['unshare', createUnshare, filtered],
    ['unshare', createUnshare, {}],
  ] as const) {
    const file = await findProgram(program, process.env.PATH ?? '');
    for (const drops of [true, false]) {
      const confiner = create(file ?? program, drops, parts);
      const how = confiner.filter === undefined ? 'without a filter' : 'with a filter';
      const name = `${confiner.name} ${how} ${drops ? 'dropping root' : 'as a plain user'}`;
      const fault =
        file === undefined
          ? 'it is not installed'
          : drops && !isRoot
            ? 'the tests do not run as root'
            : await verifyConfiner(confiner);
      walls.push({ name, confiner, ...(fault === undefined ? {} : { fault }) });
    }
  }
  return walls;
}
