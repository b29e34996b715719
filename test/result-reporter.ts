import { writeFileSync } from 'node:fs';
import type { Reporter, SerializedError, TestModule } from 'vitest/node';

interface Failure {
  /** The file, from the root of the repository. */
  readonly where: string;
  readonly title: string;
  /** The first line of the error. */
  readonly why: string;
}

const firstLine = (errors: readonly { readonly message: string }[]): string =>
  errors[0]?.message.split('\n')[0] ?? 'it did not finish';

/** A file and how long it took: reading its modules, and its tests. */
interface Timed {
  readonly where: string;
  readonly seconds: number;
}

const SLOWEST = 10;

function slowest(modules: readonly TestModule[]): Timed[] {
  const all = modules.map((module): Timed => {
    const { collectDuration, duration } = module.diagnostic();
    return { where: module.relativeModuleId, seconds: (collectDuration + duration) / 1000 };
  });
  return all.sort((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
}

/** Writes the counts, the failures and the slowest files of a run as JSON into the file that `TEST_RESULTS` names: `run-all.mjs` prints them. */
export default class ResultReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly SerializedError[]): void {
    const file = process.env.TEST_RESULTS;
    if (file === undefined) return;
    const failed: Failure[] = [];
    let [passed, skipped] = [0, 0];
    for (const module of modules) {
      const where = module.relativeModuleId;
      for (const test of module.children.allTests()) {
        const { state, errors = [] } = test.result();
        if (state === 'passed') passed++;
        else if (state === 'skipped') skipped++;
        else failed.push({ where, title: test.fullName, why: firstLine(errors) });
      }
      for (const suite of module.children.allSuites())
        if (suite.errors().length > 0)
          failed.push({ where, title: suite.fullName, why: firstLine(suite.errors()) });
      if (module.errors().length > 0)
        failed.push({ where, title: 'the file itself', why: firstLine(module.errors()) });
    }
    for (const error of unhandled)
      failed.push({ where: 'vitest', title: 'an error outside of every test', why: firstLine([error]) });
    writeFileSync(file, JSON.stringify({ passed, failed, skipped, slowest: slowest(modules) }));
  }
}
