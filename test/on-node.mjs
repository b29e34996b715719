import { spawnSync } from 'node:child_process';

/** `npm run test:node -- 24`: the rooms that touch Node most, on another version of it from the registry. Build first. */
const ROOMS =
  'core base text wire redact config record gateway lessons daemon cli plugins served/served-told'.split(' ');
const [version = '24', ...paths] = process.argv.slice(2);
const files = paths.length > 0 ? paths : ROOMS.map((room) => `test/${room}`);
const vitest = ['node_modules/vitest/vitest.mjs', 'run', ...files];
const { status } = spawnSync('npx', ['--yes', '--package', `node@${version}`, 'node', ...vitest], {
  stdio: 'inherit',
});
process.exit(status ?? 1);
