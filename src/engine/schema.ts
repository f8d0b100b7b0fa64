import { RECORD_KINDS } from '../mapping/index.ts'
import { COVERAGE_SCHEMA, SCOPED_MIGRATION } from './coverage.ts'
import { SHIPPING_MIGRATION, SHIPPING_SCHEMA } from './shipping/shipped-ranges.ts'
import { SIMILAR_MIGRATION, SIMILAR_SCHEMA } from './similar.ts'

/** Version of the layout: a store of a newer one is refused, and one of an older one that no migration leads on from. */
export const SCHEMA_VERSION = 13

/**
 * Statements by the version that they lead to from the one before. Whoever changes the layout raises the version, and writes down here how a store of the
 * version before is brought up to date; where that cannot be done in place, its blocks have to be indexed again.
 */
export const STORE_MIGRATIONS: ReadonlyMap<number, readonly string[]> = new Map([
  [11, SIMILAR_MIGRATION],
  [12, SCOPED_MIGRATION],
  [13, SHIPPING_MIGRATION],
])

/**
 * Stored documents as packed records: see docs/internals.md. A document's position is block number × 2^22 + place in the block (of its
 * kind); the row of neighbouring places stands at that of the first. An event is its log seen through a signature, and has no record
 * of its own.
 */
const DOCUMENTS = [
  `CREATE TABLE block (number INTEGER PRIMARY KEY, hash BLOB NOT NULL, time INT NOT NULL, hashes BLOB NOT NULL, ends BLOB NOT NULL,
     record BLOB NOT NULL)`,
  ...RECORD_KINDS.map(kind => `CREATE TABLE ${kind} (pos INTEGER PRIMARY KEY, bytes BLOB NOT NULL)`),
]

/**
 * `segment` is a run of blocks whose documents are numbered 0, 1, … by kind (ordinals): neighbours, or with `scoped` those that hold what scopes want; `post` holds the
 * terms of a segment with the ordinals of the documents that have them, see term-blocks.ts; `num` holds the values of a numeric field in ascending order beside their
 * ordinals. Segments never overlap, and no number of one is used again: readers keep what they know of it. See segment.ts. `revised` is how often
 * documents of a segment were decoded anew: what readers keep of its index holds for one state of it. `col` holds the columns: the values of
 * one field by ordinal, beside the least and the greatest of them; see column-codec.ts. Where no document of a segment has the field there is no row.
 *
 * `emptied`: whether documents of a segment, and their index, were evicted; see evict.ts.
 *
 * `dropped`: segments that are not listed, with some of their index still, or already, there; see merge.ts.
 *
 * Dictionaries: `address`, `name`, `signature`.
 */
const INDEX = [
  `CREATE TABLE segment (id INTEGER PRIMARY KEY AUTOINCREMENT, first INT NOT NULL, last INT NOT NULL, events INT NOT NULL,
     ${RECORD_KINDS.map(kind => `"${kind}" INT NOT NULL`).join(', ')}, level INT NOT NULL, revised INT NOT NULL DEFAULT 0, blocks BLOB NOT NULL,
     block INT NOT NULL DEFAULT 0, scoped INT NOT NULL DEFAULT 0, emptied INT NOT NULL DEFAULT 0)`,
  'CREATE UNIQUE INDEX segment_first ON segment (first)',
  'CREATE TABLE post (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL)',
  'CREATE TABLE col (segment INT NOT NULL, field INT NOT NULL, least REAL NOT NULL, greatest REAL NOT NULL, data BLOB NOT NULL)',
  'CREATE UNIQUE INDEX col_segment ON col (segment, field)',
  'CREATE TABLE num (segment INT NOT NULL, field INT NOT NULL, n INT NOT NULL, vals BLOB, ords BLOB, PRIMARY KEY (segment, field)) WITHOUT ROWID',
  'CREATE TABLE dropped (segment INTEGER PRIMARY KEY)',
  'CREATE TABLE address (id INTEGER PRIMARY KEY, bytes BLOB NOT NULL UNIQUE)',
  'CREATE TABLE name (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)',
  'CREATE TABLE signature (id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, topic BLOB, indexed INT NOT NULL, abi TEXT, probability REAL NOT NULL, error TEXT)',
]

/**
 * What rules found, in the file of the documents so that a block and its alerts are committed together. `alert`: one row for each, `due` being
 * the head from which it is confirmed. `outbox`: what receivers are to be told, in order. `rule`: up to where the history that a rule asked for was gone
 * through: `next` is the first block still to be looked at, `last` the last one.
 */
const ALERT_TABLES = [
  `CREATE TABLE alert (n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, rule INT NOT NULL, revision INT NOT NULL, target TEXT NOT NULL,
     confirmations INT NOT NULL, notify INT NOT NULL, block INT NOT NULL, block_hash BLOB NOT NULL, due INT NOT NULL, kind TEXT NOT NULL,
     document TEXT NOT NULL, source TEXT NOT NULL, state INT NOT NULL, received_at INT NOT NULL, changed_at INT NOT NULL)`,
  'CREATE INDEX alert_block ON alert (block)',
  'CREATE INDEX alert_due ON alert (due) WHERE state = 0',
  'CREATE INDEX alert_rule ON alert (rule, n)',
  'CREATE TABLE outbox (n INTEGER PRIMARY KEY AUTOINCREMENT, alert INT NOT NULL, type INT NOT NULL)',
  'CREATE TABLE rule (id INTEGER PRIMARY KEY, start INT NOT NULL, next INT NOT NULL, last INT NOT NULL)',
]

/**
 * Contracts in the order in which they were created, and tokens. Both are few: their rows have indexes of their own, and segments do not know of
 * them. `code` is a code that contracts have, of which many have the same: it stays when the last of them is gone, and so does what it tells.
 *
 * `token`: `id` is that of its address, `asked` whether the contract itself has answered, and `pos` stands for the lowest block in which it was seen, NULL where
 * none is stored: then only what it answered is kept. `change` grows with each row that is written: who follows them reads on from the last one.
 *
 * `link`: what contracts told of the code that they run, by the id of their address: the hash of their own, NULL where there is none, and whose else
 * (`Delegation`, the targets as JSON). `pos` is up to where the chain was known when they were asked.
 *
 * `upgrade`: logs by which contracts tell that they run other code from then on, whether or not anything is known of them; `implementation` is NULL where
 * the log does not say whose.
 */
const CONTRACTS = [
  'CREATE TABLE code (id INTEGER PRIMARY KEY, hash BLOB NOT NULL UNIQUE, size INT NOT NULL, selectors BLOB, topics BLOB, standard INT, source INT)',
  `CREATE TABLE contract (pos INTEGER PRIMARY KEY, address INT NOT NULL, creator INT NOT NULL, tx INT NOT NULL, code INT, implementation INT,
     name INT, abi INT, probability REAL)`,
  'CREATE INDEX contract_address ON contract (address)',
  'CREATE INDEX contract_creator ON contract (creator)',
  'CREATE INDEX contract_code ON contract (code)',
  'CREATE INDEX contract_name ON contract (name) WHERE name IS NOT NULL',
  'CREATE INDEX contract_implementation ON contract (implementation) WHERE implementation IS NOT NULL',
  `CREATE TABLE token (id INTEGER PRIMARY KEY, decimals INT, asked INT NOT NULL DEFAULT 0, name INT, symbol INT, standard INT, error INT, pos INT,
     change INT NOT NULL DEFAULT 0)`,
  'CREATE INDEX token_pos ON token (pos) WHERE pos IS NOT NULL',
  'CREATE INDEX token_name ON token (name) WHERE name IS NOT NULL',
  'CREATE INDEX token_symbol ON token (symbol) WHERE symbol IS NOT NULL',
  'CREATE INDEX token_change ON token (change)',
  'CREATE TABLE link (id INTEGER PRIMARY KEY, code BLOB, kind TEXT, targets TEXT, pos INT NOT NULL)',
  'CREATE INDEX link_pos ON link (pos)',
  'CREATE TABLE upgrade (pos INTEGER PRIMARY KEY, address INT NOT NULL, implementation INT)',
  'CREATE INDEX upgrade_address ON upgrade (address)',
  'CREATE INDEX upgrade_implementation ON upgrade (implementation)',
]

/** Tables of one network. */
export const SCHEMA: readonly string[] = [
  'CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID',
  ...DOCUMENTS,
  ...INDEX,
  ...ALERT_TABLES,
  ...CONTRACTS,
  ...SIMILAR_SCHEMA,
  ...COVERAGE_SCHEMA,
  ...SHIPPING_SCHEMA,
]

/** Documents of one block may take this many places; positions stay below 2^53. */
export const PLACES_PER_BLOCK = 2 ** 22
export const positionOf = (block: number, place: number): number => block * PLACES_PER_BLOCK + place
export const blockOf = (position: number): number => Math.floor(position / PLACES_PER_BLOCK)
export const placeOf = (position: number): number => position % PLACES_PER_BLOCK
