import { RECORD_KINDS } from '../mapping/index.ts'
import { COVERAGE_SCHEMA, SCOPED_MIGRATION } from './coverage.ts'
import { SHIPPING_MIGRATION, SHIPPING_SCHEMA } from './shipping/shipped-ranges.ts'
import { SIMILAR_SCHEMA, similarMigration } from './similarity-index.ts'

/** Layout version. Stores with a newer version, or an older one without migration, are refused. */
export const SCHEMA_VERSION = 18

/** When rules with `notify.quiet` had an alert, by a hash of its key; `time` in epoch seconds. */
const QUIET_SCHEMA = [
  'CREATE TABLE quiet (n INTEGER PRIMARY KEY, rule INT NOT NULL, revision INT NOT NULL, key BLOB NOT NULL, block INT NOT NULL, time INT NOT NULL)',
  'CREATE INDEX quiet_key ON quiet (rule, revision, key, block)',
  'CREATE INDEX quiet_block ON quiet (block)',
]

/**
 * Windows of rules. `rule_window`: blocks `since` to `upto` were seen without a gap, rows below
 * `floor` are forgotten, `clock` is the time of `upto`, `refused` and `untold` count what limits left out.
 * `rule_rows`: matches of one block; `row_list`: them by key, as JSON, once for all rules that found the same.
 * `episode`: alerts whose conditions hold, or held up to `ended`; `due`: as of alerts; `time`: of
 * `opened`.
 */
const WINDOW_TABLES = [
  `CREATE TABLE rule_window (rule INTEGER PRIMARY KEY, revision INT NOT NULL, since INT NOT NULL, since_time INT NOT NULL, floor INT NOT NULL,
     upto INT NOT NULL, clock INT NOT NULL)`,
  'CREATE TABLE rule_rows (rule INT NOT NULL, block INT NOT NULL, time INT NOT NULL, rows TEXT NOT NULL)',
  'CREATE UNIQUE INDEX rule_rows_block ON rule_rows (rule, block)',
  'CREATE TABLE episode (alert INTEGER PRIMARY KEY, rule INT NOT NULL, key TEXT NOT NULL, opened INT NOT NULL, ended INT, due INT)',
  'CREATE INDEX episode_rule ON episode (rule)',
  'CREATE INDEX episode_due ON episode (due) WHERE due IS NOT NULL',
]
const ROW_LISTS = [
  'CREATE TABLE row_list (n INTEGER PRIMARY KEY, rows TEXT NOT NULL)',
  'INSERT INTO row_list SELECT rowid, rows FROM rule_rows',
  'ALTER TABLE rule_rows ADD COLUMN list INT NOT NULL DEFAULT 0',
  'UPDATE rule_rows SET list = rowid',
  'ALTER TABLE rule_rows DROP COLUMN rows',
  'CREATE INDEX rule_rows_list ON rule_rows (list)',
  `CREATE TRIGGER row_list_unused AFTER DELETE ON rule_rows BEGIN
     DELETE FROM row_list WHERE n = OLD.list AND NOT EXISTS (SELECT 1 FROM rule_rows WHERE list = OLD.list);
   END`,
]
const LEFT_OUT_COUNTS = ['refused', 'untold'].map(
  name => `ALTER TABLE rule_window ADD COLUMN ${name} INT NOT NULL DEFAULT 0`,
)
const EPISODE_TIME = 'ALTER TABLE episode ADD COLUMN time INT NOT NULL DEFAULT 0'

/**
 * Keys of rules with `hold` whose verdict is true from the block `began` on, at `time`; up to `ended`,
 * where it broke or an episode opened.
 */
const HELD_TABLE = [
  'CREATE TABLE held (n INTEGER PRIMARY KEY, rule INT NOT NULL, key TEXT NOT NULL, began INT NOT NULL, time INT NOT NULL, ended INT)',
  'CREATE INDEX held_key ON held (rule, key)',
]

/**
 * Repeats of alerts whose episodes last, with what their windows had in that block. `due`: as of alerts;
 * `told`: when the outbox got it, in epoch milliseconds. `document` and `source`: instead of those of the alert.
 */
const REPEAT_TABLE = [
  `CREATE TABLE repeat (n INTEGER PRIMARY KEY AUTOINCREMENT, alert INT NOT NULL, rule INT NOT NULL, block INT NOT NULL, time INT NOT NULL,
     due INT NOT NULL, told INT, windows TEXT NOT NULL, document TEXT, source TEXT)`,
  'CREATE INDEX repeat_alert ON repeat (alert, block)',
  'CREATE INDEX repeat_block ON repeat (block)',
  'CREATE INDEX repeat_rule ON repeat (rule)',
  'CREATE INDEX repeat_due ON repeat (due) WHERE told IS NULL',
  'CREATE INDEX outbox_repeat ON outbox (repeat) WHERE repeat IS NOT NULL',
]

/**
 * Rules whose windows or sequences are of several networks. `across`: alerts up to the moment `decided` are
 * told, as of the `heads` of all networks (JSON: number and hash by network); rows of before `kept` are
 * forgotten. `across_alert`: alerts of this network; `key`: of an episode, which may end; `due`: as of
 * alerts, which have it once the other networks are as deep. Moments in epoch seconds.
 */
const ACROSS_TABLES = [
  'CREATE TABLE across (rule INTEGER PRIMARY KEY, revision INT NOT NULL, heads TEXT NOT NULL, decided INT NOT NULL, kept INT NOT NULL)',
  'CREATE TABLE across_alert (alert INTEGER PRIMARY KEY, rule INT NOT NULL, key TEXT, opened INT NOT NULL, ended INT, due INT NOT NULL)',
  'CREATE INDEX across_alert_rule ON across_alert (rule, opened)',
]

/**
 * Statements by the version that they migrate to, from the one before. A change of layout raises
 * the version and adds its migration here; without one, blocks must be indexed again.
 */
export const STORE_MIGRATIONS: ReadonlyMap<number, readonly string[]> = new Map([
  [11, similarMigration('similar_signs')],
  [12, SCOPED_MIGRATION],
  [13, SHIPPING_MIGRATION],
  [14, similarMigration('similar_bits')],
  [15, QUIET_SCHEMA],
  [16, ['ALTER TABLE alert ADD COLUMN windows TEXT', ...WINDOW_TABLES]],
  [17, HELD_TABLE],
  [
    18,
    [
      EPISODE_TIME,
      'UPDATE episode SET time = ifnull((SELECT time FROM block WHERE number = opened), 0)',
      'ALTER TABLE outbox ADD COLUMN repeat INT',
      ...REPEAT_TABLE,
      ...ACROSS_TABLES,
      ...ROW_LISTS,
      ...LEFT_OUT_COUNTS,
    ],
  ],
])

/**
 * Packed records of documents: see docs/internals.md. Position: block number × 2^22 + place in the
 * block (per kind); a row of neighbouring places has the position of the first. An event is a log
 * decoded by a signature, and has no record of its own.
 */
const DOCUMENTS = [
  `CREATE TABLE block (number INTEGER PRIMARY KEY, hash BLOB NOT NULL, time INT NOT NULL, hashes BLOB NOT NULL, ends BLOB NOT NULL,
     record BLOB NOT NULL)`,
  ...RECORD_KINDS.map(kind => `CREATE TABLE ${kind} (pos INTEGER PRIMARY KEY, bytes BLOB NOT NULL)`),
]

/**
 * `segment`: a run of blocks whose documents are numbered 0, 1, … per kind (ordinals). Blocks are
 * neighbours; with `scoped`, only those that match scopes. Segments never overlap, and readers
 * cache by id, so ids are never reused. `revised`: number of times that documents were decoded
 * again, which invalidates caches of the index. See segment.ts.
 *
 * `post`: terms of a segment with the ordinals of matching documents; see term-blocks.ts.
 * `num`: sorted values of a numeric field, with ordinals.
 * `col`: values of a field by ordinal, with minimum and maximum; see column-codec.ts. No row: no
 * document of the segment has the field.
 *
 * `emptied`: whether documents of a segment, and their index, were offloaded; see offload.ts.
 *
 * `dropped`: unlisted segments whose index is partly stored; see merge.ts.
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
 * Results of rules, in the same file as the documents to commit a block with its alerts. `alert`:
 * one row per alert; `due`: the head that confirms it; `windows`: JSON, of a rule with windows.
 * `outbox`: notifications to send, in order; `repeat`: which one is told of the alert.
 * `rule`: progress through requested history; `next`: first block still to do, `last`: the end.
 */
const ALERT_TABLES = [
  `CREATE TABLE alert (n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, rule INT NOT NULL, revision INT NOT NULL, target TEXT NOT NULL,
     confirmations INT NOT NULL, notify INT NOT NULL, block INT NOT NULL, block_hash BLOB NOT NULL, due INT NOT NULL, kind TEXT NOT NULL,
     document TEXT NOT NULL, source TEXT NOT NULL, state INT NOT NULL, received_at INT NOT NULL, changed_at INT NOT NULL, windows TEXT)`,
  'CREATE INDEX alert_block ON alert (block)',
  'CREATE INDEX alert_due ON alert (due) WHERE state = 0',
  'CREATE INDEX alert_rule ON alert (rule, n)',
  'CREATE TABLE outbox (n INTEGER PRIMARY KEY AUTOINCREMENT, alert INT NOT NULL, type INT NOT NULL, repeat INT)',
  'CREATE TABLE rule (id INTEGER PRIMARY KEY, start INT NOT NULL, next INT NOT NULL, last INT NOT NULL)',
  ...QUIET_SCHEMA,
  ...WINDOW_TABLES,
  ...ROW_LISTS,
  ...LEFT_OUT_COUNTS,
  EPISODE_TIME,
  ...HELD_TABLE,
  ...REPEAT_TABLE,
  ...ACROSS_TABLES,
]

/**
 * Contracts in order of creation, and tokens. Both are few, so they have their own SQLite indexes
 * instead of segments. `code`: contract code, shared by contracts; it outlives them.
 *
 * `token`: `id`: of its address; `asked`: whether the contract has answered; `pos`: lowest stored
 * block with the token, NULL where there is none and only its answers are stored. `change`: grows
 * with each write, so followers read from their last one.
 *
 * `link`: the code that contracts run, by the id of their address: hash of their own (NULL: none),
 * and of delegates (`Delegation`, targets as JSON). `pos`: head of the chain at the request.
 *
 * `upgrade`: logs that announce other code from then on, also of unknown contracts;
 * `implementation`: NULL where the log does not contain it.
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

/** Places per block; positions stay below 2^53. */
export const PLACES_PER_BLOCK = 2 ** 22
export const positionOf = (block: number, place: number): number => block * PLACES_PER_BLOCK + place
export const blockOf = (position: number): number => Math.floor(position / PLACES_PER_BLOCK)
export const placeOf = (position: number): number => position % PLACES_PER_BLOCK
