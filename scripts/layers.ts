import { globSync, readFileSync } from 'node:fs'
import { posix } from 'node:path'

/**
 * The rooms of `src/` and the arrows between them: `node scripts/layers.ts` tells what in the code breaks them. A room is a folder,
 * or a file directly in `src/`. The table of rooms in CONTRIBUTING.md is written from here.
 */
export interface Room {
  /** What it is for. */
  is: string
  /** Its folders, and what each is for. */
  folders?: Readonly<Record<string, string>>
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
    is: 'Leaf code that knows nothing of chains: errors, log, retry, queues, hex and hashes, secrets, the forms in which the program runs',
    folders: { scheduling: 'Queues, windows, rates, circuit breaker, coalescing' },
    packages: ['@bitauth/libauth', '@noble/hashes', 'hash-wasm'],
  },
  limits: {
    is: 'The table of limits: what one caller, rule, node or file may use',
    may: ['lib'],
    pure: true,
  },
  metrics: {
    is: 'The table of metrics; counting, and the text format of Prometheus',
    pure: true,
  },
  mapping: {
    is: 'The declaration of entities and their fields; look-up of a field by its path',
    folders: { documents: 'One file for each entity' },
    may: ['lib'],
    pure: true,
  },
  sqlite: {
    is: 'SQLite files: opening, one writer at a time, migrations, page checksums, damage',
    may: ['lib'],
    packages: ['better-sqlite3'],
    sql: 'the tables of checksums and of locks',
  },
  backup: {
    is: 'Backups of a data folder: one consistent state, changed pages, restore',
    may: ['sqlite', 'lib'],
  },
  accounts: {
    is: 'Accounts, tokens and the audit log, in a file of their own',
    may: ['limits', 'sqlite', 'lib'],
    packages: ['better-sqlite3'],
    sql: 'its own file',
  },
  chain: {
    is: 'Where blocks come from: nodes, block packs, era1, cryo; checks of every answer; reorganisations',
    folders: {
      blocks: 'Fetching and following blocks of a node',
      budget: 'Credits and rates of calls to a node',
      check: 'Checks of blocks, receipts, logs and traces',
      files: 'Block packs, and the choice of a file format',
      'files/cryo': 'Folders of Parquet files of cryo',
      'files/era1': 'era1 files',
      logs: 'Logs of chosen contracts by `eth_getLogs`',
      rpc: 'JSON-RPC: transports, endpoints, batches, choice of a node',
      transactions: 'Transactions of chosen addresses',
    },
    may: ['limits', 'metrics', 'lib'],
    packages: ['hyparquet', 'undici'],
  },
  scopes: {
    is: 'Which contracts, events and transactions of a chain are wanted, and which blocks were searched for them',
    may: ['limits', 'lib'],
    types: ['chain'],
    pure: true,
  },
  config: {
    is: 'The table of settings; flags, environment and config file',
    may: ['limits', 'scopes', 'lib'],
    packages: ['smol-toml', 'valibot'],
  },
  decode: {
    is: 'From logs to events: declarations, signatures, ABI decoding, the registry',
    folders: { 'abi-formats': 'Forms of ABI files', codec: 'ABI decoding of bytes' },
    may: ['lib'],
    types: ['chain'],
    pure: true,
  },
  documents: {
    is: 'What a block is decoded to: documents, their ids and values',
    may: ['decode', 'mapping', 'lib'],
    types: ['chain'],
    pure: true,
  },
  query: {
    is: 'From the query DSL to a checked tree, and from the tree to a predicate on a document',
    folders: {
      aggs: 'Aggregations of a request, and their answers',
      'aggs/kinds': 'One declaration for each aggregation',
      'aggs/pipelines': 'One declaration for each pipeline aggregation',
      dates: 'Dates, formats, time zones',
      dsl: 'One declaration for each clause',
      hits: 'What hits show: sort, fields, highlighting',
      lucene: 'Query strings',
      regexp: 'Regular expressions as automata',
      template: 'Search templates',
      text: 'Analysis, phrases, fuzzy words',
    },
    may: ['limits', 'documents', 'decode', 'mapping', 'lib'],
    pure: true,
  },
  engine: {
    is: 'Documents in SQLite: records, index, execution of queries; one writer and many readers',
    folders: {
      aggs: 'Aggregations over columns and postings',
      documents: 'From a block to its records, and back to values',
      'documents/records': 'The layout of each kind of record',
      forms: 'How values of fields are stored, read and written as JSON',
      index: 'Segments: terms, posting lists, columns, points, merges',
      query: 'Execution of a search',
      'query/fields': 'Fields as terms, columns and values',
      'query/match': 'Matching a condition in a segment',
      'query/plan': 'The cheapest way to evaluate a condition',
      'query/scores': 'BM25 over segments',
      'query/sort': 'Sort keys, first pages, `search_after`',
      redecode: 'Redecoding of stored documents',
      shipping: 'What was shipped to a cluster, offloaded and restored',
      show: 'From records to the JSON of hits',
    },
    may: ['limits', 'sqlite', 'query', 'documents', 'decode', 'mapping', 'lib'],
    types: ['chain'],
    packages: ['better-sqlite3', 'minisearch'],
    sql: 'the documents of a network',
  },
  search: {
    is: 'From a request to its answer: envelope, threads, caches, fair turns',
    folders: {
      columns: 'Arguments of one signature as typed columns; CSV, Parquet',
      cursors: 'Scrolls and points in time',
    },
    may: ['limits', 'metrics', 'sqlite', 'scopes', 'engine', 'query', 'decode', 'mapping', 'lib'],
    packages: ['hyparquet', 'hyparquet-writer'],
  },
  export: {
    is: 'All hits of a query as a file that can be continued; stored blocks as packs',
    may: ['limits', 'search', 'query', 'documents', 'chain', 'mapping', 'lib'],
  },
  cluster: {
    is: 'Documents in OpenSearch: indices, shipping, moving back, queries',
    folders: {
      aggs: 'Aggregations of OpenSearch as ours',
      bulk: 'Bulk requests and their pace',
      connection: 'Requests to the nodes of a cluster; stalled nodes',
      hits: 'From hits of OpenSearch to ours',
      indices: 'Creating, comparing and naming indices; lost ones',
      query: 'From the checked query to the DSL of OpenSearch',
      redecoding: 'Redecoding of documents in the cluster',
      restore: 'Moving documents back from the cluster into a file',
      ship: 'Shipping: lease, backlog, batches, moves, repair',
    },
    may: [
      'limits',
      'metrics',
      'sqlite',
      'engine',
      'search',
      'export',
      'query',
      'documents',
      'decode',
      'mapping',
      'lib',
    ],
    types: ['chain'],
    packages: ['@opensearch-project/opensearch', 'undici'],
  },
  windows: {
    is: 'Windows of alert rules: exact aggregates over time, episodes; without clock and store',
    may: ['query', 'lib'],
    pure: true,
  },
  rules: {
    is: 'Alert rules: schema, storage, matching many rules with a block',
    may: ['limits', 'windows', 'accounts', 'query', 'documents', 'decode', 'mapping', 'lib'],
    types: ['chain'],
    packages: ['better-sqlite3', 'valibot'],
    folders: {
      notify: 'What a rule says about its messages; values of documents',
      windows: 'Windows of rules: checks, and what they take of matches',
      state: 'What rules read of accounts and contracts at a block',
      silences: 'Times in which alerts are not sent',
    },
    sql: 'its own tables beside the accounts',
  },
  alerts: {
    is: 'States of alerts, changed in the transaction of their block; the outbox',
    may: ['sqlite', 'engine', 'rules', 'windows', 'mapping', 'lib'],
    sql: 'alert, outbox, rule and the tables of windows, which lie in the file of the documents so that both are committed together',
  },
  delivery: {
    is: 'From the outbox to receivers: payloads, channels, retries, the ledger, guarded connections',
    folders: { channels: 'One file for each channel', ledger: 'Deliveries and attempts in SQLite' },
    may: ['limits', 'metrics', 'alerts', 'rules', 'sqlite', 'engine', 'mapping', 'config', 'lib'],
    packages: ['better-sqlite3', 'nodemailer', 'undici'],
    sql: 'its own file',
  },
  'back-test': {
    is: 'What a rule would have told of stored blocks: episodes, messages',
    may: ['limits', 'delivery', 'rules', 'windows', 'query', 'documents', 'mapping', 'chain', 'lib'],
  },
  ingest: {
    is: 'Indexing of a network: threads, back-fill and head, scopes, redecoding, status',
    folders: {
      contracts: 'Contracts, tokens and proxies of a network',
      decoding: 'Decoding of blocks, in one or several threads',
      'decoding/builders': 'Threads that build pieces of segments',
      'decoding/shared': 'Dictionaries in shared memory',
      jobs: 'Import, back-fill, following, scopes: each yields changes',
      rules: 'Matching of rules with blocks and history',
      scoped: 'Blocks that are stored in part',
      status: 'Status and readiness of a network',
      writer: 'The thread that writes',
    },
    may: [
      'limits',
      'metrics',
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
    is: 'Checks of nodes, stores, clusters, clock, mail, receivers and disk, with remedies',
    may: ['limits', 'accounts', 'chain', 'sqlite', 'engine', 'cluster', 'rules', 'delivery', 'config', 'lib'],
    packages: ['undici'],
  },
  mcp: {
    is: 'The Model Context Protocol: tools, resources and prompts for agents, over the HTTP API',
    folders: { tools: 'What agents call' },
    may: ['limits', 'query', 'mapping', 'lib'],
    packages: ['@modelcontextprotocol/server', '@valibot/to-json-schema', 'valibot'],
  },
  http: {
    is: 'Routes, tokens, bodies, errors in the form of Elasticsearch',
    folders: {
      alerting: 'Rules and deliveries',
      es: 'One file for each endpoint of Elasticsearch',
      manage: 'ABIs, redecoding, rates, storage',
      openapi: 'The OpenAPI description',
      shapes: 'Schemas of requests and answers',
    },
    may: ['limits', 'metrics', 'search', 'query', 'rules', 'mapping', 'accounts', 'config', 'mcp', 'lib'],
    types: ['ingest', 'alerts', 'delivery'],
    packages: ['hono', '@hono/node-server', 'valibot', '@valibot/to-json-schema'],
  },
  console: {
    is: 'The pages in the browser, which use the HTTP API alone',
    folders: {
      api: 'Requests to the server, and their state in components',
      browser: 'Address, keys, storage',
      'pages/abis': 'ABIs',
      'pages/account': 'The account',
      'pages/explore': 'Search',
      'pages/gas': 'Gas prices',
      'pages/rules': 'Rules, alerts and deliveries',
      'pages/status': 'Networks, deliveries, disk',
      'pages/things': 'Blocks, transactions, addresses, tokens',
      parts: 'Tables, forms, menus, texts, charts',
      shell: 'Navigation, search and state around every page; the sign-in',
    },
    // The lists of chains and of channels alone.
    may: ['config', 'rules'],
    types: ['http', 'mapping'],
    packages: [
      'preact',
      'lucide',
      '@zag-js/combobox',
      '@zag-js/menu',
      '@zag-js/preact',
      '@zag-js/tabs',
      '@zag-js/tooltip',
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
    is: '`chainsieve dev`, `chainsieve replay` and the demo chain',
    may: ['lib', 'config', 'accounts', 'sqlite', 'engine', 'search', 'ingest'],
    types: ['delivery'],
  },
  app: {
    is: 'Commands, and what each of them starts; metrics and retention of a server',
    folders: {
      cli: 'Arguments, help, completion, what is printed',
      'cli/commands': 'One file for each group of commands',
      manage: 'ABIs and storage over HTTP',
      openzeppelin: 'Rules from the configuration of an OpenZeppelin Monitor',
    },
    may: [
      'limits',
      'metrics',
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
      'back-test',
      'delivery',
      'ingest',
      'doctor',
      'mcp',
      'http',
      'dev',
    ],
  },
  'start.ts': { is: 'Entry of the bundle: finds a Node that is recent enough', may: ['lib'] },
  'load.ts': { is: 'Loads the bundle in each thread from compiled code', may: ['lib'] },
  'main.ts': {
    is: 'Entry: the command line in the main thread, and the role of each worker thread',
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
/** Folders without a line that says what they are for, and lines of folders that are gone. */
export const findFolderFaults = (files: Iterable<string>, rooms: Readonly<Record<string, Room>> = ROOMS): string[] => {
  const present = new Set(Array.from(files, path => posix.dirname(path)).filter(path => path.split('/').length > 2))
  const listed = new Set(
    Object.entries(rooms).flatMap(([room, { folders = {} }]) =>
      Object.entries(folders).flatMap(([folder, purpose]) => (purpose === '' ? [] : [`src/${room}/${folder}`])),
    ),
  )
  return [
    ...[...present.difference(listed)].map(path => `${path} has no purpose: add one to its room in scripts/layers.ts`),
    ...[...listed.difference(present)].map(path => `${path} is gone: take it out of its room in scripts/layers.ts`),
  ]
}

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
  const faults = [...findFaults(sources), ...findFolderFaults(sources.keys()), ...findShapeFaults(sources)]
  for (const fault of faults) console.error(fault)
  process.exitCode = faults.length === 0 ? 0 : 1
}
