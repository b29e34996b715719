import { createHash } from 'node:crypto';
import { asArray, asObject, asString, type JsonObject, parseJson } from '../../src/core/json.ts';
import { compareText } from '../report/question-rows.ts';

interface SbomInput {
  /** The text of package.json and package-lock.json. */
  readonly manifest: string;
  readonly lockfile: string;
  /** The files of the model that ships with the package, by name. */
  readonly model: { readonly name: string; readonly files: Readonly<Record<string, Uint8Array>> };
}

/**
 * What an installation contains, as CycloneDX 1.6: every package of the lockfile that is not for development, with its
 * licence and the hash that npm verifies, what depends on what, and the shipped model. The same input gives the same
 * bytes: no time, no host and no path is in it. (`npm sbom` names the folder and leaves a dependency out.)
 */
export function createSbom({ manifest, lockfile, model }: SbomInput): string {
  const own = asObject(parseJson(manifest));
  const packages = new Map(
    Object.entries(asObject(asObject(parseJson(lockfile)).packages)).map(
      ([place, entry]) => [place, asObject(entry)] as const,
    ),
  );
  const [name, version] = [textOf(own, 'name'), textOf(own, 'version')];
  const root = refOf(name, version);
  const shipped = [...packages].filter(
    ([place, entry]) => place.startsWith('node_modules/') && entry.dev !== true && entry.link !== true,
  );
  // What the page of the workspace is built from is inside the files that are shipped.
  const bundled = [...packages].flatMap(([place, entry]) =>
    place !== '' && !place.includes('node_modules/') ? Object.keys(asObject(entry.dependencies)) : [],
  );
  const components = shipped.map(([place, entry]) => describePackage(nameAt(place), entry));
  const dependencies = [['', packages.get('') ?? {}] as const, ...shipped].map(([place, entry]) => ({
    ref: place === '' ? root : refOf(nameAt(place), textOf(entry, 'version')),
    dependsOn: [
      ...Object.keys({ ...asObject(entry.dependencies), ...asObject(entry.optionalDependencies) }),
      ...(place === '' ? bundled : []),
    ]
      .flatMap((wanted) => findPackage(packages, place, wanted) ?? [])
      .sort(),
  }));
  const document = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    version: 1,
    metadata: {
      lifecycles: [{ phase: 'build' }],
      component: {
        'bom-ref': root,
        type: 'application',
        name,
        version,
        description: textOf(own, 'description'),
        licenses: [licenceOf(own)],
        purl: purlOf(name, version),
      },
    },
    components: [
      ...components.sort((a, b) => compareText(a['bom-ref'], b['bom-ref'])),
      describeModel(model, version),
    ],
    dependencies: [...dependencies.sort((a, b) => compareText(a.ref, b.ref))],
  };
  const serialNumber = `urn:uuid:${toUuid(createHash('sha256').update(JSON.stringify(document)).digest())}`;
  return `${JSON.stringify({ ...document, serialNumber }, undefined, 2)}\n`;
}

const refOf = (name: string, version: string): string => `${name}@${version}`;
const purlOf = (name: string, version: string): string => `pkg:npm/${name.replace('@', '%40')}@${version}`;

function textOf(entry: JsonObject, field: string): string {
  const text = asString(entry[field]);
  if (text === undefined)
    throw new Error(`an entry without ${field}: ${JSON.stringify(entry).slice(0, 200)}`);
  return text;
}

/** `node_modules/a/node_modules/@b/c` is `@b/c`. */
const nameAt = (place: string): string => place.slice(place.lastIndexOf('node_modules/') + 13);

/** As Node resolves it: from the folder of the package upwards. */
function findPackage(
  packages: ReadonlyMap<string, JsonObject>,
  from: string,
  name: string,
): string | undefined {
  for (let folder = from; ; folder = folder.replace(/(^|\/)node_modules\/(@[^/]+\/)?[^/]+$/, '')) {
    const entry = packages.get(`${folder === '' ? '' : `${folder}/`}node_modules/${name}`);
    if (entry !== undefined) return refOf(name, textOf(entry, 'version'));
    if (folder === '') return undefined;
  }
}

function describePackage(name: string, entry: JsonObject) {
  const version = textOf(entry, 'version');
  const [algorithm, digest] = textOf(entry, 'integrity').split('-');
  if (algorithm !== 'sha512' || digest === undefined)
    throw new Error(`${name} has no SHA-512 in the lockfile`);
  return {
    'bom-ref': refOf(name, version),
    type: 'library',
    name,
    version,
    scope: entry.optional === true ? 'optional' : 'required',
    hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }],
    licenses: [licenceOf(entry)],
    purl: purlOf(name, version),
  };
}

const licenceOf = (entry: JsonObject): JsonObject => {
  const text = textOf(entry, 'license');
  return / (AND|OR|WITH) /.test(text) ? { expression: text } : { license: { id: text } };
};

/** The model has no releases of its own: its version, and that of its files, is the package's. */
function describeModel({ name, files }: SbomInput['model'], version: string) {
  const parts = Object.entries(files).sort(([a], [b]) => compareText(a, b));
  return {
    'bom-ref': `model/${name}`,
    type: 'machine-learning-model',
    name,
    version,
    scope: 'required',
    components: parts.map(([file, bytes]) => ({
      'bom-ref': `model/${name}/${file}`,
      type: 'file',
      name: `models/${name}/${file}`,
      version,
      hashes: [{ alg: 'SHA-256', content: createHash('sha256').update(bytes).digest('hex') }],
    })),
  };
}

/** A UUID of version 8, which may be any bits. */
function toUuid(hash: Buffer): string {
  const bytes = Buffer.from(hash.subarray(0, 16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}

/** The names of the packages in an SBOM, sorted. */
export const packagesIn = (sbom: string): readonly string[] =>
  asArray(asObject(parseJson(sbom)).components)
    .map(asObject)
    .filter(({ type }) => type === 'library')
    .map((component) => textOf(component, 'name'));
