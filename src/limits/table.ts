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
  /** What is limited. It completes "has more than 1024 …", "has more than 16MB of …" and "needs more than 60s …". */
  what: string
  /** What happens beyond it, and what the caller can do instead. */
  remedy: string
}

type Subject = readonly [who: string, what: string]

const limit =
  (unit: Unit) =>
  (most: number | string, code: string, [who, what]: Subject, remedy: string): Limit => ({
    unit,
    fallback: String(most),
    code,
    who,
    what,
    remedy,
  })

const count = limit('count')
const bytes = limit('bytes')
const duration = limit('duration')

const REJECTED = 'es_rejected_execution_exception'
const ILLEGAL = 'illegal_argument_exception'
const UNPARSED = 'parsing_exception'
const INVALID = 'validation_exception'
const TOO_LARGE = 'content_too_large_exception'

/**
 * THE table of limits: what one caller, one rule, one node or one file may ask of the program. `--limit clauses=2000`
 * changes one; the README's table and every error are written from here.
 */
export const LIMITS = {
  // Connections and bodies.
  connections: count(
    4_096,
    REJECTED,
    ['the server', 'connections'],
    'Further ones are closed at once: keep connections open and use them again. Where the process may have few files open (ulimit -n), half of those are the limit.',
  ),
  connectionsByAddress: count(
    512,
    REJECTED,
    ['an address', 'connections'],
    'Keep connections open and use them again. IPv6 addresses count by their first 64 bits; the machine of the server itself may have three quarters of all connections, for a proxy on it.',
  ),
  headers: bytes(
    '32kB',
    'too_long_http_header_exception',
    ['a request', 'headers'],
    'Send what is long in the body of the request.',
  ),
  body: bytes('16MB', TOO_LARGE, ['a request', 'data in its body'], 'Ask for less in one request.'),
  queuedBodies: bytes('128MB', REJECTED, ['the server', 'request bodies under way'], 'Ask again in a moment.'),
  queuedBodiesByAccount: bytes(
    '48MB',
    REJECTED,
    ['an account', 'request bodies under way'],
    'Send smaller ones, or wait for answers before the next.',
  ),

  // Queries.
  clauses: count(
    4_096,
    'too_many_clauses',
    ['a query', 'clauses'],
    'Write values of one field as [terms], or ask in several searches.',
  ),
  values: count(
    65_536,
    ILLEGAL,
    ['a query', 'values in lists'],
    'Ask in several searches, or by what the values have in common.',
  ),
  jsonValues: count(
    200_000,
    UNPARSED,
    ['a query', 'JSON values'],
    'Ask in several searches, or by what the values have in common.',
  ),
  nesting: count(
    100,
    UNPARSED,
    ['a query', 'levels of nested objects and lists'],
    'Flatten the query: a list of clauses in one bool means the same as bools inside each other.',
  ),
  text: count(
    10_000,
    ILLEGAL,
    ['a search text', 'characters'],
    'Search by its beginning, or by the words that matter.',
  ),
  sorts: count(16, ILLEGAL, ['a query', 'sort keys'], 'Leave out the last ones, which seldom decide.'),
  sourcePatterns: count(
    500,
    ILLEGAL,
    ['a query', 'patterns for _source'],
    'Name an object for all that is in it, or use *.',
  ),
  timeZones: count(16, ILLEGAL, ['a query', 'names of time zones'], 'Write offsets such as +02:00, or times in UTC.'),
  dateFormats: count(
    16,
    ILLEGAL,
    ['a date format', 'alternatives'],
    'Keep those that the dates of the query are written in.',
  ),
  queryMemory: bytes(
    '100MB',
    ILLEGAL,
    ['a query', 'hits and keys to sort'],
    'Sort by the order of the chain (_doc, timestamp or blockNumber.num), which needs none, or narrow the query.',
  ),

  // Aggregations.
  aggregations: count(500, ILLEGAL, ['a search', 'aggregations'], 'Ask for some of them in another search.'),
  aggregationDepth: count(
    20,
    ILLEGAL,
    ['an aggregation', 'levels of aggregations inside each other'],
    'Use composite, which takes several fields at one level.',
  ),
  ranges: count(
    256,
    ILLEGAL,
    ['an aggregation', 'ranges or filters'],
    'Use histogram or terms, or several aggregations.',
  ),
  buckets: count(
    65_536,
    'too_many_buckets_exception',
    ['an answer', 'buckets'],
    'Ask for longer intervals, a smaller size or a shorter time, or page through a composite aggregation.',
  ),
  aggregationMemory: bytes(
    '300MB',
    ILLEGAL,
    ['a search', 'data to aggregate'],
    'Narrow the query, or aggregate by a field with fewer values.',
  ),

  keptMemory: bytes(
    '256MB',
    ILLEGAL,
    ['the server', 'what it read of stores and keeps for the next search'],
    'What was used first is forgotten: dashboards over much data take longer.',
  ),

  // Searches of an account.
  waitingSearches: count(
    256,
    REJECTED,
    ['an account', 'waiting searches'],
    'Wait for answers before asking more, or ask for more in one search.',
  ),
  waitingBytes: bytes(
    '64MB',
    REJECTED,
    ['an account', 'waiting searches'],
    'Wait for answers before asking more, or ask in smaller bodies.',
  ),
  streams: count(
    16,
    REJECTED,
    ['an account', 'answers to "size": -1 under way'],
    'Read one to its end, or close its connection, before asking for the next.',
  ),
  searches: count(1_000, ILLEGAL, ['a request', 'searches (_msearch)'], 'Spread them over several requests.'),
  documents: bytes(
    '64MB',
    ILLEGAL,
    ['a request', 'documents (_mget)'],
    'Ask for fewer of them, or for less of each by [_source].',
  ),
  cursors: count(
    500,
    REJECTED,
    ['an account', 'open scrolls and points in time'],
    'Close those that are no longer needed; each closes by itself when its keep-alive is over.',
  ),
  cursorQuery: bytes(
    '256kB',
    ILLEGAL,
    ['a scroll', 'text in its query'],
    'Page through a large query with search_after, for which the server need not keep it.',
  ),
  unreadStream: duration(
    '60s',
    REJECTED,
    ['a client', 'to take the next part of an answer'],
    'Its connection is closed then: read on, or ask for fewer hits.',
  ),

  // Rules.
  rules: count(
    10_000,
    INVALID,
    ['an account', 'rules'],
    'Delete those that are no longer needed, or write several as one with [Equals any].',
  ),
  ruleBytes: bytes(
    '16MB',
    INVALID,
    ['an account', 'rules in all'],
    'Delete those that are no longer needed, or shorten the lists in them.',
  ),
  rule: bytes('128kB', TOO_LARGE, ['a rule', 'JSON'], 'Split it into several rules.'),
  ruleName: bytes('1kB', INVALID, ['a name', 'text'], 'Write what is long into the description of the rule.'),
  ruleText: bytes('16kB', INVALID, ['a description or the message of an alert', 'text'], 'Shorten it.'),
  ruleConditions: count(
    250,
    INVALID,
    ['a rule', 'conditions'],
    'Write values of one field as [Equals any], or split the rule into several.',
  ),
  ruleValues: count(2_000, INVALID, ['a rule', 'values to compare with'], 'Spread them over several rules.'),
  ruleValue: bytes('4kB', INVALID, ['a field or a value in a rule', 'text'], 'Compare with something shorter.'),
  ruleUrl: bytes('4kB', INVALID, ['the URL of an alert', 'text'], 'Send what is long as [payload].'),
  ruleRecipients: count(50, INVALID, ['an alert', 'recipients'], 'Send it to a mailing list.'),
  rulePayload: count(
    100,
    INVALID,
    ['the payload of an alert', 'fields'],
    'Name the field that holds them: all that is in it is sent then.',
  ),
  ruleMatches: count(
    2_000,
    INVALID,
    ['an account', 'matches in one block'],
    'Those beyond it are not told: make the conditions of its rules narrower.',
  ),
  simulations: count(
    4,
    REJECTED,
    ['an account', 'simulations and tests of rules under way'],
    'Ask again when one of them is done.',
  ),

  // Deliveries.
  deliveriesByAccount: count(
    100,
    REJECTED,
    ['an account', 'deliveries under way'],
    'Further ones wait; those that take longer than a second are counted apart, up to four times as many.',
  ),
  queuedDeliveries: count(
    100_000,
    REJECTED,
    ['an account', 'queued deliveries'],
    'What a receiver cannot take meanwhile is dead, and can be delivered again in smaller ranges.',
  ),

  // Nodes and packs.
  nodeAnswer: bytes(
    '64MB',
    'node_answer_too_large',
    ['an answer of a node', 'JSON'],
    'Fewer blocks are asked for at once, down to one.',
  ),
  nodeAnswers: bytes(
    '256MB',
    'node_answer_too_large',
    ['a network', 'node answers under way'],
    'Those that began later wait.',
  ),
  callAnswer: bytes(
    '256kB',
    'node_answer_too_large',
    ['an answer to eth_call, eth_getCode or eth_getStorageAt', 'JSON'],
    'It counts as no answer.',
  ),
  packLine: bytes(
    '128MB',
    'pack_line_too_long',
    ['a line of a block pack', 'JSON'],
    'A line holds one block: check that this is a block pack, with one JSON object on each line.',
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
    'No more fits into the gas of a block on any known chain: ask another node.',
  ),

  // Files.
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
