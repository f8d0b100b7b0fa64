import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'

/**
 * The rooms of `src/` and the arrows between them: `node scripts/layers.ts` tells what in the code breaks them. A room is a folder,
 * or a file directly in `src/`. The table of rooms in CONTRIBUTING.md is written from here.
 */
export interface Room {
  /** What it is for. */
  is: string
  /** Rooms that it may import. */
  may?: readonly string[]
  /** Rooms of which it may know types, by `import type` alone. */
  types?: readonly string[]
  /** Packages that it may import; of other rooms nobody sees them. */
  packages?: readonly string[]
  /** Touches neither files nor network nor threads: it imports nothing of Node's. */
  pure?: true
  /** Whose tables it may ask by SQL. */
  sql?: string
}

/** From the bottom up: a room names only rooms above it in this table, so that no ring of rooms can be allowed. */
export const ROOMS: Record<string, Room> = {
  lib: {
    is: 'leaf code that knows nothing of chains: errors, log, retry, queue, progress bar, hex and hashes, secrets, the three forms in which the program runs',
    packages: ['@bitauth/libauth', '@noble/hashes', 'hash-wasm'],
  },
  limits: {
    is: 'THE table of limits: what one caller, rule, node or file may ask of the program, and what is said beyond',
    may: ['lib'],
    pure: true,
  },
  mapping: {
    is: 'THE declaration of entities and their fields; look-up of a field by its path',
    may: ['lib'],
    pure: true,
  },
  sqlite: {
    is: 'SQLite files: opening them, one writer at a time, checksums of their pages, damage',
    may: ['lib'],
    packages: ['better-sqlite3'],
    sql: 'the tables of checksums and of locks',
  },
  backup: {
    is: 'backups of a data folder: one state of all its files, the pages that changed since the last one, and the way back',
    may: ['sqlite', 'lib'],
  },
  accounts: {
    is: 'accounts and tokens, in a file of their own',
    may: ['limits', 'sqlite', 'lib'],
    packages: ['better-sqlite3'],
    sql: 'its own file',
  },
  chain: {
    is: 'where blocks come from: JSON-RPC and block packs behind one interface, era1 files and folders of cryo, what a source says being checked; following, reorganisations',
    may: ['limits', 'lib'],
    packages: ['hyparquet', 'undici'],
  },
  scopes: {
    is: 'what of a chain is wanted where not all of it is, and what of that is there',
    may: ['limits', 'lib'],
    types: ['chain'],
    pure: true,
  },
  config: {
    is: 'the table of settings; reads flags, environment and config file',
    may: ['limits', 'scopes', 'lib'],
    packages: ['smol-toml', 'valibot'],
  },
  decode: {
    is: 'from logs to events: declarations, signatures, ABI decoding, the registry of signatures and tokens',
    may: ['lib'],
    types: ['chain'],
    pure: true,
  },
  documents: {
    is: 'the shape of documents: how values are shown in `_source`, ids; what a block is decoded to',
    may: ['decode', 'mapping', 'lib'],
    types: ['chain'],
    pure: true,
  },
  query: {
    is: 'from the query DSL to a checked tree, and from the tree to a predicate over a document',
    may: ['limits', 'documents', 'decode', 'mapping', 'lib'],
    pure: true,
  },
  engine: {
    is: 'documents in SQLite: stored documents, index, and the execution of queries; one writer, many readers of a network',
    may: ['limits', 'sqlite', 'query', 'documents', 'decode', 'mapping', 'lib'],
    types: ['chain'],
    packages: ['better-sqlite3', 'minisearch'],
    sql: 'the documents of a network',
  },
  search: {
    is: 'from a request to its answer: the envelope of Elasticsearch, the threads that read, and whose turn it is',
    may: ['limits', 'sqlite', 'scopes', 'engine', 'query', 'decode', 'mapping', 'lib'],
  },
  export: {
    is: 'what leaves: all hits of a query as a file that can be continued, and blocks as packs again',
    may: ['limits', 'search', 'query', 'documents', 'chain', 'mapping', 'lib'],
    packages: ['hyparquet', 'hyparquet-writer'],
  },
  cluster: {
    is: 'documents in OpenSearch: its indices, shipping documents there and bringing them back, queries in its language, answers from there',
    may: ['limits', 'sqlite', 'engine', 'search', 'export', 'query', 'documents', 'decode', 'mapping', 'lib'],
    types: ['chain'],
    packages: ['@opensearch-project/opensearch', 'undici'],
  },
  rules: {
    is: 'alerting rules: their schema and its faults, where they are kept, from a rule to a query, the matcher of many rules',
    may: ['limits', 'accounts', 'query', 'documents', 'decode', 'mapping', 'lib'],
    types: ['chain'],
    packages: ['better-sqlite3', 'valibot'],
    sql: 'its own tables beside the accounts',
  },
  alerts: {
    is: 'what rules found: pending, confirmed, withdrawn, retracted, in the transaction of the block; the outbox',
    may: ['sqlite', 'engine', 'rules', 'mapping', 'lib'],
    sql: 'alert, outbox and rule, which lie in the file of the documents so that both are committed together',
  },
  delivery: {
    is: 'from the outbox to receivers: payloads, one file for each channel, retries, the ledger, the guard against inward targets',
    may: ['limits', 'alerts', 'rules', 'sqlite', 'engine', 'mapping', 'config', 'lib'],
    packages: ['better-sqlite3', 'nodemailer', 'undici'],
    sql: 'its own file',
  },
  ingest: {
    is: 'joins source, decoding and store: threads of a network, back-fill and following side by side, token decimals, the status',
    may: [
      'limits',
      'chain',
      'scopes',
      'decode',
      'sqlite',
      'query',
      'engine',
      'search',
      'export',
      'documents',
      'rules',
      'alerts',
      'lib',
    ],
    types: ['config', 'mapping', 'cluster'],
  },
  doctor: {
    is: 'looks at what the program needs, nodes, stores, clusters, clock, mail, receivers and disk, and tells what to do',
    may: ['limits', 'accounts', 'chain', 'sqlite', 'engine', 'cluster', 'rules', 'delivery', 'config', 'lib'],
    packages: ['undici'],
  },
  http: {
    is: 'the routes; one file for each endpoint under `es/`; tokens, bodies, errors in Elasticsearch’s shape',
    may: ['limits', 'search', 'query', 'rules', 'mapping', 'accounts', 'config', 'lib'],
    types: ['ingest', 'alerts', 'delivery'],
    packages: ['hono', '@hono/node-server', 'valibot', '@valibot/to-json-schema'],
  },
  console: {
    is: 'the pages in the browser, which ask the HTTP API as every client does',
    // The lists of chains and of channels alone.
    may: ['config', 'rules'],
    types: ['http', 'mapping'],
    packages: [
      'preact',
      'uplot',
      '@codemirror/autocomplete',
      '@codemirror/commands',
      '@codemirror/lang-json',
      '@codemirror/language',
      '@codemirror/lint',
      '@codemirror/state',
      '@codemirror/view',
      '@lezer/highlight',
    ],
    pure: true,
  },
  dev: {
    is: '`chainsieve dev` and `chainsieve replay`: what a node and the project of its contracts tell a developer; the demo chain',
    may: ['lib', 'config', 'accounts', 'sqlite', 'engine', 'search', 'ingest'],
    types: ['delivery'],
  },
  app: {
    is: 'the commands and the composition of what they set to work, in the order in which it starts; metrics and retention of a server',
    may: [
      'limits',
      'lib',
      'config',
      'accounts',
      'sqlite',
      'backup',
      'engine',
      'cluster',
      'search',
      'export',
      'rules',
      'alerts',
      'delivery',
      'ingest',
      'doctor',
      'http',
      'dev',
    ],
  },
  'start.ts': { is: 'what the bundle is started by: has a Node that is recent enough load it', may: ['lib'] },
  'load.ts': { is: 'runs the bundle in each thread, from what V8 made of it when it was built', may: ['lib'] },
  'main.ts': {
    is: 'the one entry: the command line in the main thread, and each worker thread in its role',
    may: ['lib', 'search', 'cluster', 'ingest', 'delivery', 'app'],
  },
}

/** Imports that the table does not allow and that stand for now, each with its reason. One that is no longer there is a fault, too. */
export const EXCEPTIONS: readonly { from: string; to: string; why: string }[] = []

/** Folders of a room that import each other for now. Otherwise one of two folders, neither inside the other, is the lower one. */
export const MUTUAL: readonly { folders: readonly [string, string]; why: string }[] = [
  {
    folders: ['src/engine/aggs', 'src/engine/query'],
    why: 'Hits of buckets are found as those of searches are, and searches end in aggregations.',
  },
  {
    folders: ['src/engine/documents', 'src/engine/index'],
    why: 'The index is built from batches of documents, and revisions of documents name their terms.',
  },
  {
    folders: ['src/engine/query', 'src/engine/show'],
    why: 'Hits are written by what shows documents, and rows of contracts are shown as they are looked up.',
  },
]

/** Files that a folder may have at most, and lines of a function. */
export const MOST_FILES = 30
export const MOST_LINES = 150

/** Folders and functions that are larger for now. `most` may only go down. */
export const LARGE: readonly { path: string; name?: string; most: number; why: string }[] = []

export interface Import {
  /** As it is written. */
  specifier: string
  /** Of `import type`, which leaves nothing at run time; `import { type … }` still loads its module. */
  types: boolean
  /** By `import()`, when it is needed. */
  later: boolean
}

/** Everything that breaks the rules; `files` are texts by path from the project's folder, such as `src/lib/errors.ts`. */
export const findFaults = (
  files: ReadonlyMap<string, string>,
  rooms: Readonly<Record<string, Room>> = ROOMS,
  exceptions: typeof EXCEPTIONS = EXCEPTIONS,
): string[] => {
  const faults: string[] = []
  const used = new Set<object>()
  const present = new Set([...files.keys()].map(roomOf))
  for (const room of present) if (!rooms[room]) faults.push(`src/${room} is in no room: add it to scripts/layers.ts`)
  const names = Object.keys(rooms)
  for (const [at, [name, { may = [], types = [] }]] of Object.entries(rooms).entries()) {
    if (!present.has(name)) faults.push(`the room ${name} is empty: take it out`)
    for (const other of [...may, ...types])
      if (!names.slice(0, at).includes(other))
        faults.push(`the room ${name} names ${other}, which does not stand above it`)
  }

  const faultOf = (from: string, to: string, types: boolean): string | undefined => {
    const [own, other] = [roomOf(from), roomOf(to)]
    const { may = [], types: known = [] } = rooms[own] ?? {}
    if (own === other || may.includes(other)) return undefined
    if (!known.includes(other)) return `${from} imports ${to}: ${own} may not know ${other}`
    return types ? undefined : `${from} imports ${to}: ${own} may know types of ${other} alone (import type)`
  }

  for (const [from, text] of files) {
    const sql = rooms[roomOf(from)]?.sql === undefined ? SQL.exec(text) : null
    if (sql) faults.push(`${from} asks by SQL (${sql[0]}): its room may not, ask a room that has tables of its own`)
    for (const { specifier, types } of importsOf(text)) {
      const room = rooms[roomOf(from)] ?? { is: '' }
      if (!specifier.startsWith('.')) {
        const name = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/')
        if (name.startsWith('node:') && room.pure && !types)
          faults.push(`${from} imports ${specifier}: its room is pure`)
        if (!name.startsWith('node:') && !room.packages?.includes(name))
          faults.push(`${from} imports ${specifier}: not a package of its room`)
        continue
      }
      const to = posix.join(posix.dirname(from), specifier)
      if (!files.has(to)) {
        faults.push(`${from} imports ${specifier}, which is no file of src`)
        continue
      }
      const fault = faultOf(from, to, types)
      const exception = exceptions.find(it => it.from === from && it.to === to)
      if (exception && fault) used.add(exception)
      else if (fault) faults.push(fault)
    }
  }
  for (const exception of exceptions)
    if (!used.has(exception))
      faults.push(`the exception ${exception.from} to ${exception.to} is not needed: take it out`)
  return [...faults, ...cyclesOf(files).map(cycle => `files import each other in a ring: ${cycle.join(', ')}`)]
}

/** Folders that import each other inside a room, and folders and functions that are too large. */
export const findShapeFaults = (
  files: ReadonlyMap<string, string>,
  { mutual = MUTUAL, large = LARGE }: { mutual?: typeof MUTUAL; large?: typeof LARGE } = {},
): string[] => {
  const faults: string[] = []
  const arrows = new Map<string, string>()
  for (const [from, text] of files)
    for (const { specifier } of importsOf(text)) {
      const to = posix.join(posix.dirname(from), specifier)
      const [own, other] = [posix.dirname(from), posix.dirname(to)]
      const isBeside = !`${own}/`.startsWith(`${other}/`) && !`${other}/`.startsWith(`${own}/`)
      if (files.has(to) && roomOf(from) === roomOf(to) && isBeside)
        arrows.set(`${own} ${other}`, `${from} imports ${to}`)
    }
  const pairs = new Set<string>()
  for (const [pair, arrow] of arrows) {
    const [one, other] = pair.split(' ') as [string, string]
    const back = arrows.get(`${other} ${one}`)
    if (one > other || back === undefined) continue
    const listed = mutual.find(({ folders }) => folders.includes(one) && folders.includes(other))
    if (listed) pairs.add(listed.folders.join())
    else faults.push(`${one} and ${other} import each other: ${arrow}, ${back}`)
  }
  for (const { folders } of mutual)
    if (!pairs.has(folders.join())) faults.push(`${folders.join(' and ')} no longer import each other: take them out`)

  const sizes = [
    ...[...Map.groupBy(files.keys(), path => posix.dirname(path))].map(([path, some]) => ({
      ...{ path, name: undefined, size: some.length, most: MOST_FILES, of: 'files' },
    })),
    ...[...files].flatMap(([path, text]) =>
      functionsOf(text).map(({ name, lines }) => ({ path, name, size: lines, most: MOST_LINES, of: 'lines' })),
    ),
  ]
  for (const { path, name, size, most, of } of sizes) {
    const listed = large.find(it => it.path === path && it.name === name)
    const shown = name === undefined ? path : `${name} of ${path}`
    if (size > (listed?.most ?? most)) faults.push(`${shown} has ${size} ${of}: ${listed?.most ?? most} at most`)
    if (listed && size < listed.most)
      faults.push(
        `${shown} has ${size} ${of}: ${size > most ? `write that in place of ${listed.most}` : 'take it out of the list'}`,
      )
  }
  for (const { path, name } of large)
    if (!sizes.some(it => it.path === path && it.name === name))
      faults.push(`${name === undefined ? path : `${name} of ${path}`} is gone: take it out of the list`)
  return faults
}

/** The first line of a function at the top level, as the formatter writes it. */
const FUNCTION = /^(?:export )?(?:default )?(?:const (\w+).* = .*(?:=>|\() ?[({[]?|(?:async )?function\*? (\w+).*\{)$/

/** Top-level functions, and values that are made of several, with their lines. The formatter ends each at a line's beginning. */
const functionsOf = (text: string): { name: string; lines: number }[] => {
  const found: { name: string; lines: number }[] = []
  let begun: { name: string; at: number } | undefined
  for (const [at, line] of text.split('\n').entries()) {
    const [, value, name = value] = FUNCTION.exec(line) ?? []
    if (name !== undefined) begun ??= { name, at }
    if (!begun || !/^[)}\]]/.test(line) || /[({[]$/.test(line)) continue
    found.push({ name: begun.name, lines: at - begun.at + 1 })
    begun = undefined
  }
  return found
}

/** `lib` of `src/lib/errors.ts`, `main.ts` of `src/main.ts`. */
export const roomOf = (path: string): string => path.split('/')[1]!

export const importsOf = (text: string): Import[] => {
  const found: Import[] = []
  for (const [, types, from, bare, later] of text.matchAll(IMPORT))
    found.push({ specifier: (from ?? bare ?? later)!, types: types !== undefined, later: later !== undefined })
  return found
}

/** Statements begin their line, as the formatter leaves them. */
const IMPORT =
  /^(?:import|export)\b(?: (type)\b(?! from))?(?:[^'";]*?)\bfrom '([^']+)'|^import '([^']+)'|\bimport\(\s*'([^']+)'\s*\)/gm

/** Verbs of a connection. Regular expressions have an `exec`, too, but nobody calls theirs with a literal or with SQL. */
const SQL = /\.(?:(?:prepare|pragma)\b(?=[<(])|exec(?=\(['"`])|exec(?=\((?:statement|migration|sql)\)))/

/** Rings of imports that are there at run time, each told once. */
const cyclesOf = (files: ReadonlyMap<string, string>): string[][] => {
  const cycles: string[][] = []
  const done = new Set<string>()
  const visit = (path: string, way: string[]) => {
    const at = way.indexOf(path)
    if (at >= 0) cycles.push(way.slice(at))
    if (done.has(path)) return
    done.add(path)
    for (const { specifier, types, later } of importsOf(files.get(path) ?? '')) {
      if (types || later || !specifier.startsWith('.')) continue
      visit(posix.join(posix.dirname(path), specifier), [...way, path])
    }
  }
  for (const path of files.keys()) visit(path, [])
  return cycles
}

const root = new URL('../', import.meta.url)

export const readSources = (): Map<string, string> =>
  new Map(
    globSync('src/**/*.{ts,tsx}', { cwd: root })
      .map(path => path.replaceAll('\\', '/'))
      .sort()
      .map(path => [path, readFileSync(new URL(path, root), 'utf8')]),
  )

if (import.meta.main) {
  const sources = readSources()
  const faults = [...findFaults(sources), ...findShapeFaults(sources)]
  for (const fault of faults) console.error(fault)
  process.exitCode = faults.length === 0 ? 0 : 1
}
