import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createSbom, packagesIn } from './sbom.ts';

/** `npm pack` runs it in the root of the package: writes sbom.json. */
const folder = 'models/nano';
const files = Object.fromEntries(
  readdirSync(folder).map((name) => [name, readFileSync(`${folder}/${name}`)]),
);
const sbom = createSbom({
  manifest: readFileSync('package.json', 'utf8'),
  lockfile: readFileSync('package-lock.json', 'utf8'),
  model: { name: 'nano', files },
});
writeFileSync('sbom.json', sbom);
process.stderr.write(`sbom.json: ${packagesIn(sbom).length} packages\n`);
