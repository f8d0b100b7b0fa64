import { type ChainsieveError, refuse, retry } from '../lib/errors.ts'

/** What a limit counts: things, bytes, or milliseconds. */
export type Unit = 'count' | 'bytes' | 'duration'

export interface Limit {
  unit: Unit
  /** The default, as a user would write it. */
  fallback: string
  /** Code of the error, which over HTTP is its type. */
  code: string
  /** Who may not have more, as a noun with its article: "a query". */
  who: string
  /** What is limited, as a noun: it completes "more than 1024 …" and "more than 16MB of …". */
  what: string
  /** What happens beyond it, and what the caller can do instead. */
  remedy: string
}

type Subject = readonly [who: string, what: string]

const limit = (unit: Unit, fallback: string, code: string, [who, what]: Subject, remedy: string): Limit => ({
  unit,
  fallback,
  code,
  who,
  what,
  remedy,
})

const count = (most: number, code: string, subject: Subject, remedy: string) =>
  limit('count', String(most), code, subject, remedy)
const bytes = (most: string, code: string, subject: Subject, remedy: string) =>
  limit('bytes', most, code, subject, remedy)
const duration = (most: string, code: string, subject: Subject, remedy: string) =>
  limit('duration', most, code, subject, remedy)

/**
 * THE table of limits: what one caller, one rule, one node or one file may ask of the program. `--limit clauses=2000` changes one; the
 * README's table and every error are written from here.
 */
export const LIMITS = {
  connections: count(
    4_096,
    'es_rejected_execution_exception',
    ['the server', 'connections'],
    'Further ones are closed at once: keep connections open and use them again. Where the process may have few files open (ulimit -n), half of those are the limit.',
  ),
  connectionsByAddress: count(
    512,
    'es_rejected_execution_exception',
    ['an address', 'connections'],
    'Keep connections open and use them again. Addresses of IPv6 count by their first 64 bits; this machine itself may have three quarters of all connections, for a proxy on it.',
  ),
  headers: bytes('32kB', 'too_long_http_header_exception', ['a request', 'headers'], 'Send longer things in its body.'),
  body: bytes('16MB', 'content_too_large_exception', ['a request', 'body'], 'Ask for less in one request.'),
  queuedBodies: bytes(
    '128MB',
    'es_rejected_execution_exception',
    ['the server', 'bodies of requests at once'],
    'Ask again in a moment.',
  ),
  queuedBodiesByAccount: bytes(
    '48MB',
    'es_rejected_execution_exception',
    ['an account', 'bodies of requests at once'],
    'Send smaller ones, or wait for answers before the next.',
  ),
  clauses: count(
    4_096,
    'too_many_clauses',
    ['a query', 'clauses'],
    'Write values of one field as [terms], or ask in several searches.',
  ),
  nodeAnswer: bytes(
    '64MB',
    'node_answer_too_large',
    ['an answer of a node', 'JSON'],
    'Fewer blocks are asked for at once, down to one.',
  ),
  nodeAnswers: bytes(
    '256MB',
    'node_answer_too_large',
    ['a network', 'answers of nodes under way'],
    'The answers that began later wait.',
  ),
  callAnswer: bytes(
    '256kB',
    'node_answer_too_large',
    ['an answer to eth_call, eth_getCode or eth_getStorageAt', 'JSON'],
    'It counts as none.',
  ),
  packLine: bytes(
    '128MB',
    'pack_line_too_long',
    ['a line of a block pack', 'JSON'],
    'A line holds one block: see whether this is a block pack, one JSON object a line.',
  ),
  extraData: bytes(
    '256kB',
    'block_inconsistent',
    ['a block', 'extraData'],
    'Ethereum allows 32 bytes, chains with a list of validators some kilobytes: ask another node.',
  ),
  callData: bytes(
    '16MB',
    'block_inconsistent',
    ['an input, output, code or log', 'data'],
    'No more fits the gas of a block on the chains known: ask another node.',
  ),
  rule: bytes('128kB', 'content_too_large_exception', ['a rule', 'JSON'], 'Make several rules of it.'),
  rules: count(
    10_000,
    'validation_exception',
    ['an account', 'rules'],
    'Delete what is needed no more, or make one rule of several with [Equals any].',
  ),
  ruleBytes: bytes(
    '16MB',
    'validation_exception',
    ['an account', 'rules in all'],
    'Delete what is needed no more, or make the lists in them shorter.',
  ),
  ruleName: bytes('1kB', 'validation_exception', ['a rule', 'name'], 'Write what is long into its description.'),
  ruleText: bytes('16kB', 'validation_exception', ['a description or the text of an alert', 'text'], 'Shorten it.'),
  ruleConditions: count(
    250,
    'validation_exception',
    ['a rule', 'conditions'],
    'Write values of one field as [Equals any], or make several rules of it.',
  ),
  ruleValues: count(
    2_000,
    'validation_exception',
    ['a rule', 'values to compare with'],
    'Spread them over several rules.',
  ),
  ruleValue: bytes(
    '4kB',
    'validation_exception',
    ['a name or a value of a rule', 'text'],
    'Compare with something shorter.',
  ),
  ruleUrl: bytes('4kB', 'validation_exception', ['the URL of an alert', 'text'], 'Send what is long as [payload].'),
  ruleRecipients: count(50, 'validation_exception', ['an alert', 'recipients'], 'Send it to a mailing list.'),
  rulePayload: count(
    100,
    'validation_exception',
    ['an alert', 'fields in its payload'],
    'Name what is above them: all of it is sent then.',
  ),
  ruleMatches: count(
    2_000,
    'validation_exception',
    ['an account', 'matches in one block'],
    'Beyond that none are told: make the conditions of its rules narrower.',
  ),
  simulations: count(
    4,
    'es_rejected_execution_exception',
    ['an account', 'simulations and tests of rules at once'],
    'Ask again when one of them is done.',
  ),
  values: count(
    65_536,
    'illegal_argument_exception',
    ['a query', 'values in lists'],
    'Ask in several searches, or by what the values have in common.',
  ),
  nesting: count(
    100,
    'parsing_exception',
    ['a query', 'levels of objects and lists inside each other'],
    'Flatten the query: a list of clauses in one bool means the same as bools inside each other.',
  ),
  jsonValues: count(
    200_000,
    'parsing_exception',
    ['a query', 'JSON values'],
    'Ask in several searches, or by what the values have in common.',
  ),
  text: count(
    10_000,
    'illegal_argument_exception',
    ['a text to search by', 'characters'],
    'Search by its beginning, or by the words that matter.',
  ),
  sorts: count(
    16,
    'illegal_argument_exception',
    ['a query', 'sorts'],
    'Leave out the last ones: what the first ones have in the same place is seldom much.',
  ),
  sourcePatterns: count(
    500,
    'illegal_argument_exception',
    ['a query', 'patterns for _source'],
    'Name an object for all that is in it, or use *.',
  ),
  timeZones: count(
    16,
    'illegal_argument_exception',
    ['a query', 'names of time zones'],
    'Write offsets such as +02:00, or times in UTC.',
  ),
  dateFormats: count(
    16,
    'illegal_argument_exception',
    ['a date format', 'alternatives'],
    'Keep those that the dates of the query are written in.',
  ),
  waitingSearches: count(
    256,
    'es_rejected_execution_exception',
    ['an account', 'searches that wait'],
    'Wait for answers before asking more, or ask for more in one search.',
  ),
  waitingBytes: bytes(
    '64MB',
    'es_rejected_execution_exception',
    ['an account', 'searches that wait'],
    'Wait for answers before asking more, or ask in smaller bodies.',
  ),
  streams: count(
    16,
    'es_rejected_execution_exception',
    ['an account', 'answers of "size": -1 at once'],
    'Read one to its end, or close its connection, before asking for the next.',
  ),
  unreadStream: duration(
    '60s',
    'es_rejected_execution_exception',
    ['a client', 'time to take the next part of an answer'],
    'The connection is closed then: read on, or ask for fewer hits.',
  ),
  queryMemory: bytes(
    '100MB',
    'illegal_argument_exception',
    ['a query', 'hits and keys to sort'],
    'Sort by the order of the chain (_doc, timestamp or blockNumber.num), which needs none, or narrow the query.',
  ),
  deliveriesByAccount: count(
    100,
    'too_many_deliveries_exception',
    ['an account', 'deliveries under way'],
    'Others wait; those that take longer than a second are counted apart, up to four times as many.',
  ),
  queuedDeliveries: count(
    100_000,
    'too_many_deliveries_exception',
    ['an account', 'queued deliveries'],
    'What a receiver cannot take meanwhile is dead, and can be delivered again in smaller ranges.',
  ),
  ruleTests: count(4, 'too_many_tests_exception', ['an account', 'tests of rules under way'], 'Wait for them to end.'),
  abiFile: bytes(
    '128MB',
    'bad_abi',
    ['an ABI file', 'text'],
    'Of a list of signatures, give those that your contracts use.',
  ),
  inputFile: bytes(
    '16MB',
    'file_too_large',
    ['a file that a command reads', 'text'],
    'Split it: a command takes several files.',
  ),
} satisfies Record<string, Limit>

export type LimitName = keyof typeof LIMITS

/** Counts, bytes and milliseconds by the name of their limit. */
export type Limits = Readonly<Record<LimitName, number>>

const UNITS = {
  count: { '': 1 },
  bytes: { b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30 },
  duration: { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 },
} as const satisfies Record<Unit, Record<string, number>>

/** What a value of each unit looks like. */
export const TAKES = {
  count: 'an integer from 1 on, such as 2000',
  bytes: 'a size with its unit (B, kB, MB, GB, KiB, MiB, GiB), such as 16MB',
  duration: 'a time with its unit (ms, s, m, h, d), such as 30s',
} as const satisfies Record<Unit, string>

/** The number that a text means, undefined where it means none. */
export const parseAmount = (unit: Unit, text: string): number | undefined => {
  const [, digits, name] = /^(\d+(?:\.\d+)?|\d+(?:_\d+)+) ?([a-z]*)$/i.exec(text.trim()) ?? []
  if (digits === undefined || name === undefined) return undefined
  const scale = new Map<string, number>(Object.entries(UNITS[unit])).get(name.toLowerCase())
  const amount = scale === undefined ? Number.NaN : Number(digits.replaceAll('_', '')) * scale
  return Number.isSafeInteger(amount) && amount >= 1 ? amount : undefined
}

export const isLimit = (name: string): name is LimitName => Object.hasOwn(LIMITS, name)

export const DEFAULT_LIMITS: Limits = Object.fromEntries(
  Object.entries<Limit>(LIMITS).map(([name, { unit, fallback }]) => [name, parseAmount(unit, fallback)!]),
) as Record<LimitName, number>

/** An amount as a user would write it. */
export const showAmount = (unit: Unit, amount: number): string => {
  const [name, scale] = Object.entries<number>(UNITS[unit])
    .filter(([name, scale]) => !name.includes('i') && amount % scale === 0)
    .reduce((best, it) => (it[1] > best[1] ? it : best))
  return `${amount / scale}${unit === 'bytes' ? name.toUpperCase().replace('KB', 'kB') : name}`
}

/** The error of what has more than its limit allows. `at` names it or its place in what was sent; by default it is what the table calls it. */
export const overLimit = (name: LimitName, limits: Limits, at?: string): ChainsieveError =>
  refuse(LIMITS[name].code, told(name, limits, at))

/** The same of what has too much at this moment, and may ask again later. */
export const overNow = (name: LimitName, limits: Limits, at?: string): ChainsieveError =>
  retry(LIMITS[name].code, told(name, limits, at))

const told = (name: LimitName, limits: Limits, at?: string): string => {
  const { unit, who, what, remedy } = LIMITS[name]
  const most = `${showAmount(unit, limits[name])}${unit === 'count' ? '' : ' of'}`
  const subject = at ?? `${who[0]!.toUpperCase()}${who.slice(1)}`
  return `${subject} has more than ${most} ${what}. ${remedy} The operator can raise this with --limit ${name}=N.`
}
