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
  cluster: {
    is: 'documents in a cluster of OpenSearch: its indices, what is written there and when it counts, queries in its language',
    may: ['limits', 'engine', 'query', 'documents', 'mapping', 'lib'],
    packages: ['@opensearch-project/opensearch', 'undici'],
  },
  search: {
    is: 'from a request to its answer: the envelope of Elasticsearch, the threads that read, and whose turn it is',
    may: ['limits', 'sqlite', 'scopes', 'engine', 'cluster', 'query', 'decode', 'mapping', 'lib'],
  },
  export: {
    is: 'what leaves: all hits of a query as a file that can be continued, and blocks as packs again',
    may: ['limits', 'search', 'query', 'documents', 'chain', 'mapping', 'lib'],
    packages: ['hyparquet', 'hyparquet-writer'],
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
      'cluster',
      'search',
      'export',
      'documents',
      'rules',
      'alerts',
      'lib',
    ],
    types: ['config', 'mapping'],
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
  cli: {
    is: 'the command line: one file for each command, help texts, what is printed',
    may: ['limits', 'search', 'rules', 'accounts', 'config', 'lib'],
    types: ['ingest', 'alerts', 'delivery', 'doctor'],
  },
  services: {
    is: 'what the commands set to work, in the order in which it starts',
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
    ],
    types: ['cli'],
  },
  'start.ts': { is: 'what the bundle is started by: has a Node that is recent enough load it', may: ['lib'] },
  'load.ts': { is: 'runs the bundle in each thread, from what V8 made of it when it was built', may: ['lib'] },
  'main.ts': {
    is: 'the one entry: the command line in the main thread, and each worker thread in its role',
    may: ['lib', 'search', 'ingest', 'delivery', 'cli', 'services'],
  },
}

/** Imports that the table does not allow and that stand for now, each with its reason. One that is no longer there is a fault, too. */
export const EXCEPTIONS: readonly { from: string; to: string; why: string }[] = []

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
  const faults = findFaults(readSources())
  for (const fault of faults) console.error(fault)
  process.exitCode = faults.length === 0 ? 0 : 1
}
