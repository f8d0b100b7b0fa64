/**
 * Writes `data/events.txt`, `data/errors.txt`, `data/functions.bin` and `data/tokens.txt` from pinned packages:
 * `node scripts/registry/build.ts`; with the word `errors`, the errors alone, which takes the packages of npm only.
 * It needs npm, tar, python3 with pip, their registries, 2 GB below the temporary folder and some minutes; the output is
 * committed, so that nothing else needs any of these. `node scripts/registry/show.ts` prints the functions.
 */
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Declaration, hashedForm, hashOf } from './declaration.ts'
import { extractFolder } from './extract.ts'
import { fetchNpm, fetchPython, type Package } from './fetch.ts'
import { packFunctions, type Standing } from './functions-file.ts'
import { handEvents, handFunctions } from './hand.ts'
import { readHuman } from './human.ts'
import { npmPackages, panoramix, pythonPackages } from './packages.ts'
import { readPanoramix } from './panoramix.ts'
import { createResolver } from './resolve.ts'
import { collectTokens, tokenPackages } from './tokens.ts'

const cache = join(tmpdir(), 'chainsieve-registry')
const data = new URL('../../data/', import.meta.url)

/** Test contracts are published along with the rest; nobody calls them on a chain. */
const foundryTest = /^(test(Fuzz|Fork|Fail)?_?[A-Z_0-9]|invariant_|IS_TEST$)/

const events = createResolver()
const functions = createResolver()
const errors = createResolver()
/** Of each function, by what is hashed; the best one. */
const standings = new Map<string, Standing>()
for (const found of npmPackages) collect(found.name, fetchNpm(cache, found))
write(
  'errors.txt',
  ['Errors that contracts revert with: selector and declaration.', ...sourceLines(npmPackages)],
  errors.resolve().map(({ hash, text }) => `${hash} ${text}`),
)
if (process.argv[2] === 'errors') process.exit()
for (const found of pythonPackages) collect(found.name, fetchPython(cache, found))
for (const [hash, signature] of handEvents) events.fix(read('event', hash, signature))
for (const [hash, signature] of handFunctions) {
  const declaration = read('function', hash, signature)
  functions.fix(declaration)
  standings.set(hashedForm(declaration), '+')
}
for await (const { declaration, verified } of readPanoramix(fetchPython(cache, panoramix)))
  addFunction(declaration, panoramix.name, verified ? ' ' : '?')

const sources = [...npmPackages, ...pythonPackages]
write(
  'events.txt',
  ['Events: topic 0 and the declaration that the number of indexed arguments goes with.', ...sourceLines(sources)],
  events.resolve().map(({ hash, text }) => `${hash} ${text}`),
)
const packed = packFunctions(
  ['Functions by selector, packed as src/decode/functions.ts says.', ...sourceLines([...sources, panoramix])],
  functions.resolve().map(({ hash, text, hashed }) => ({ selector: hash, text, standing: standings.get(hashed)! })),
)
writeFileSync(new URL('functions.bin', data), packed)
console.log(`functions.bin: ${packed.length} bytes`)
write(
  'tokens.txt',
  ['Tokens: chain id, address, decimals, symbol.', ...sourceLines(tokenPackages)],
  collectTokens(cache).map(({ chainId, address, decimals, symbol }) => `${chainId} ${address} ${decimals} ${symbol}`),
)

function collect(name: string, folder: string): void {
  for (const declaration of extractFolder(folder)) {
    if (declaration.kind === 'event') events.add(declaration, name)
    else if (declaration.kind === 'error') errors.add(declaration, name)
    else if (!foundryTest.test(declaration.name)) addFunction(declaration, name, '+')
  }
}

/** Better standings come first. */
function addFunction(declaration: Declaration, name: string, standing: Standing): void {
  functions.add(declaration, name)
  const hashed = hashedForm(declaration)
  if (!standings.has(hashed)) standings.set(hashed, standing)
}

function read(kind: 'event' | 'function', hash: string, signature: string): Declaration {
  const [declaration] = readHuman(`${kind} ${signature}`, new Map())
  if (declaration === undefined || hashOf(declaration) !== hash) {
    throw new Error(`hand.ts: ${signature} does not hash to ${hash}`)
  }
  return declaration
}

function sourceLines(packages: readonly (Package & { licence: string })[]): string[] {
  return [
    'Written by scripts/registry/build.ts, which see; do not edit. Sources, with the licence they are used under:',
    ...packages.map(({ name, version, licence }) => `  ${name} ${version} (${licence})`),
  ]
}

function write(file: string, head: string[], lines: string[]): void {
  writeFileSync(new URL(file, data), [...head.map(line => `# ${line}`), ...lines, ''].join('\n'))
  console.log(`${file}: ${lines.length} lines`)
}
