import type { Confiner } from '../../../src/agent/sandbox/confiner.ts';
import { createBubblewrap, createUnshare } from '../../../src/agent/sandbox/confiner.ts';
import { findProgram, verifyConfiner } from '../../../src/agent/sandbox/find-confiner.ts';

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
  for (const [program, create] of [
    ['bwrap', createBubblewrap],
    ['unshare', createUnshare],
  ] as const) {
    const file = await findProgram(program, process.env.PATH ?? '');
    for (const drops of [true, false]) {
      const confiner = create(file ?? program, drops);
      const name = `${confiner.name} ${drops ? 'dropping root' : 'as a plain user'}`;
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
