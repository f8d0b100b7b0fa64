export type Unit = 'count' | 'bytes' | 'duration'

export interface Limit {
  unit: Unit
  /** The default, as a user would write it. */
  fallback: string
  /** Code of the error, which is its type over HTTP. */
  code: string
  /** Limited subject with its article: "a query". */
  who: string
  /** Completes "has more than 1024 …", "has more than 16MB of …" and "needs more than 60s …". */
  what: string
  /** Effect of an excess, and what the caller can do instead. */
  remedy: string
}

type Subject = readonly [who: string, what: string]

const createLimit =
  (unit: Unit) =>
  (most: number | string, code: string, [who, what]: Subject, remedy: string): Limit => ({
    unit,
    fallback: String(most),
    code,
    who,
    what,
    remedy,
  })

const countLimit = createLimit('count')
const bytesLimit = createLimit('bytes')
const durationLimit = createLimit('duration')

const REJECTED = 'es_rejected_execution_exception'
const ILLEGAL = 'illegal_argument_exception'
const UNPARSED = 'parsing_exception'
const INVALID = 'validation_exception'
const CONTENT_TOO_LARGE = 'content_too_large_exception'

/**
 * All limits of a caller, a rule, a node or a file. `--limit clauses=2000` changes one; the table
 * in docs/settings.md and every error are generated from it.
 */
export const LIMITS = {
  // Connections and bodies.
  connections: countLimit(
    4_096,
    REJECTED,
    ['the server', 'connections'],
    'Further connections are closed at once: keep connections open and reuse them. If the process may have few files open (ulimit -n), half of those are the limit.',
  ),
  connectionsByAddress: countLimit(
    512,
    REJECTED,
    ['an address', 'connections'],
    'Keep connections open and reuse them. IPv6 addresses count by their first 64 bits. The machine of the server itself may have three quarters of all connections, for a proxy on it.',
  ),
  requestsByToken: countLimit(
    6_000_000,
    REJECTED,
    ['a token', 'requests in a minute'],
    'Wait until the minute is over, as Retry-After says. The header RateLimit shows what is left.',
  ),
  requestsByAccount: countLimit(
    6_000_000,
    REJECTED,
    ['an account', 'requests in a minute with all of its tokens'],
    'Wait until the minute is over, as Retry-After says. The header RateLimit shows what is left.',
  ),
  refusalsByAddress: countLimit(
    120,
    REJECTED,
    ['an address', 'refused tokens in a minute'],
    'Send a valid token: requests with one are still answered. IPv6 addresses count by their first 64 bits.',
  ),
  headers: bytesLimit(
    '32kB',
    'too_long_http_header_exception',
    ['a request', 'headers'],
    'Send long values in the body of the request.',
  ),
  body: bytesLimit('16MB', CONTENT_TOO_LARGE, ['a request', 'data in its body'], 'Send less in one request.'),
  shortBody: bytesLimit(
    '1MB',
    CONTENT_TOO_LARGE,
    ['a request that is no search', 'data in its body'],
    'Spread it over several requests. Searches, templates and lines of _msearch may be as large as [body] allows.',
  ),
  queuedBodies: bytesLimit('128MB', REJECTED, ['the server', 'request bodies under way'], 'Try again in a moment.'),
  queuedBodiesByAccount: bytesLimit(
    '48MB',
    REJECTED,
    ['an account', 'request bodies under way'],
    'Send smaller bodies, or wait for answers before you send more.',
  ),

  // Names that requests list and answers repeat.
  names: countLimit(
    1_000,
    ILLEGAL,
    ['a request', 'names of indices, fields, columns or rules in its lists'],
    'Spread them over several requests, or use a pattern such as *.',
  ),
  patterns: countLimit(
    100,
    ILLEGAL,
    ['a request', 'patterns with * in its lists of names'],
    'Use a pattern that matches more, or *.',
  ),
  nameLength: countLimit(
    1_000,
    ILLEGAL,
    ['a name, pattern, key or format', 'characters'],
    'Use a shorter one: answers repeat it.',
  ),
  meta: bytesLimit('16kB', ILLEGAL, ['the meta of an aggregation', 'text'], 'Shorten it: answers repeat it.'),
  filterPath: countLimit(
    500,
    ILLEGAL,
    ['the URL parameter [filter_path]', 'names in its patterns, between commas and dots'],
    'Name an object to keep all of it, or use **.',
  ),
  answer: bytesLimit(
    '128MB',
    CONTENT_TOO_LARGE,
    ['an answer', 'data'],
    'Ask for fewer hits or buckets, for less of each by [_source] or [filter_path], or for all hits as a stream by "size": -1.',
  ),

  // Queries.
  clauses: countLimit(
    4_096,
    'too_many_clauses',
    ['a query', 'clauses'],
    'Combine values of one field in [terms], or use several searches.',
  ),
  values: countLimit(
    65_536,
    ILLEGAL,
    ['a query', 'values in lists'],
    'Use several searches, or search by what the values have in common.',
  ),
  jsonValues: countLimit(
    200_000,
    UNPARSED,
    ['a query', 'JSON values'],
    'Use several searches, or search by what the values have in common.',
  ),
  nesting: countLimit(
    100,
    UNPARSED,
    ['a query', 'levels of nested objects and lists'],
    'Flatten the query: a list of clauses in one bool means the same as bools inside each other.',
  ),
  text: countLimit(
    10_000,
    ILLEGAL,
    ['a search text', 'characters'],
    'Search by its beginning, or by the words that matter.',
  ),
  analyzed: countLimit(10_000, ILLEGAL, ['the text of _analyze', 'characters'], 'Spread it over several requests.'),
  template: bytesLimit(
    '4MB',
    CONTENT_TOO_LARGE,
    ['a template', 'output, with what it reads to make it'],
    'Shorten its lists and loops, or send the query itself.',
  ),
  sorts: countLimit(16, ILLEGAL, ['a query', 'sort keys'], 'Leave out the last keys, which seldom matter.'),
  sourcePatterns: countLimit(
    500,
    ILLEGAL,
    ['a query', 'patterns for _source'],
    'Name an object to select all of it, or use *.',
  ),
  timeZones: countLimit(
    16,
    ILLEGAL,
    ['a query', 'names of time zones'],
    'Write offsets such as +02:00, or times in UTC.',
  ),
  dateFormats: countLimit(16, ILLEGAL, ['a date format', 'alternatives'], 'Keep the formats that the query uses.'),
  queryMemory: bytesLimit(
    '100MB',
    ILLEGAL,
    ['a query', 'hits and keys to sort'],
    'Sort by the order of the chain (_doc, timestamp or blockNumber.num), which needs none, or narrow the query.',
  ),

  // Aggregations.
  aggregations: countLimit(500, ILLEGAL, ['a search', 'aggregations'], 'Ask for some of them in another search.'),
  aggregationDepth: countLimit(
    20,
    ILLEGAL,
    ['an aggregation', 'levels of aggregations inside each other'],
    'Use composite, which takes several fields at one level.',
  ),
  ranges: countLimit(
    256,
    ILLEGAL,
    ['an aggregation', 'ranges or filters'],
    'Use histogram or terms, or several aggregations.',
  ),
  buckets: countLimit(
    65_536,
    'too_many_buckets_exception',
    ['an answer', 'buckets'],
    'Ask for longer intervals, a smaller size or a shorter time, or page through a composite aggregation.',
  ),
  gasBlocks: countLimit(
    200,
    ILLEGAL,
    ['a request for the gas price', 'blocks'],
    'Ask for a shorter range by [from] and [to].',
  ),
  aggregationMemory: bytesLimit(
    '300MB',
    ILLEGAL,
    ['a search', 'data to aggregate'],
    'Narrow the query, or aggregate by a field with fewer values.',
  ),

  keptMemory: bytesLimit(
    '256MB',
    ILLEGAL,
    ['the server', 'data that it keeps in memory for the next search'],
    'The oldest data is forgotten: dashboards over much data take longer.',
  ),

  // Searches of an account.
  waitingSearches: countLimit(
    256,
    REJECTED,
    ['an account', 'waiting searches'],
    'Wait for answers before you send more, or combine searches.',
  ),
  dearSearches: countLimit(
    64,
    REJECTED,
    ['an account', 'searches under way that take longer than some 20 milliseconds'],
    'Further ones wait for their turn. However high it is, one thread of --readers stays free of them, and another one for other accounts.',
  ),
  waitingBytes: bytesLimit(
    '64MB',
    REJECTED,
    ['an account', 'waiting searches'],
    'Wait for answers before you send more, or send smaller bodies.',
  ),
  streams: countLimit(
    16,
    REJECTED,
    ['an account', 'answers to "size": -1 under way'],
    'Read one to its end, or close its connection, before you start the next.',
  ),
  searchHeader: bytesLimit(
    '32kB',
    ILLEGAL,
    ['the header of a search (_msearch)', 'JSON'],
    'Name fewer indices, or use a pattern such as *.',
  ),
  searches: countLimit(1_000, ILLEGAL, ['a request', 'searches (_msearch)'], 'Spread them over several requests.'),
  ids: countLimit(
    10_000,
    ILLEGAL,
    ['a request', 'ids (_mget)'],
    'Spread them over several requests, or use [terms] on _id.',
  ),
  documents: bytesLimit(
    '64MB',
    ILLEGAL,
    ['a request', 'documents (_mget)'],
    'Ask for fewer documents, or for less of each by [_source].',
  ),
  cursors: countLimit(
    500,
    REJECTED,
    ['an account', 'open scrolls and points in time'],
    'Close those that you no longer need. Each closes by itself when its keep-alive ends.',
  ),
  cursorIds: countLimit(
    1_000,
    ILLEGAL,
    ['a request', 'ids of scrolls or points in time to close'],
    'Close them in several requests, or all of the account by _all.',
  ),
  cursorQuery: bytesLimit(
    '256kB',
    ILLEGAL,
    ['a scroll', 'text in its query'],
    'Use search_after for a large query: the server does not keep it.',
  ),
  unreadStream: durationLimit(
    '60s',
    REJECTED,
    ['a client', 'to take the next part of an answer'],
    'The connection is closed: read faster, or ask for fewer hits.',
  ),

  // Rules.
  rules: countLimit(
    10_000,
    INVALID,
    ['an account', 'rules'],
    'Delete rules that you no longer need, or combine several with [Equals any].',
  ),
  rulesAtOnce: countLimit(
    1_000,
    INVALID,
    ['a request', 'rules to create'],
    'Spread them over several requests: each creates all of its rules or none.',
  ),
  ruleBytes: bytesLimit(
    '16MB',
    INVALID,
    ['an account', 'rules in all'],
    'Delete rules that you no longer need, or shorten the lists in them.',
  ),
  rule: bytesLimit('128kB', CONTENT_TOO_LARGE, ['a rule', 'JSON'], 'Split it into several rules.'),
  ruleName: bytesLimit('1kB', INVALID, ['a name', 'text'], 'Put long text into the description of the rule.'),
  ruleText: bytesLimit('16kB', INVALID, ['a description or the message of an alert', 'text'], 'Shorten it.'),
  ruleConditions: countLimit(
    250,
    INVALID,
    ['a rule', 'conditions'],
    'Combine values of one field in [Equals any], or split the rule.',
  ),
  ruleValues: countLimit(2_000, INVALID, ['a rule', 'values to compare with'], 'Spread the values over several rules.'),
  ruleValue: bytesLimit('4kB', INVALID, ['a field or a value in a rule', 'text'], 'Use a shorter text.'),
  ruleUrl: bytesLimit('4kB', INVALID, ['the URL of an alert', 'text'], 'Send long values as [payload].'),
  ruleRecipients: countLimit(50, INVALID, ['an alert', 'recipients'], 'Use a mailing list.'),
  rulePayload: countLimit(
    100,
    INVALID,
    ['the payload of an alert', 'fields'],
    'Name the field that contains them: all of it is sent.',
  ),
  lists: countLimit(100, INVALID, ['an account', 'watch lists'], 'Delete lists that no rule uses, or join some.'),
  listValues: countLimit(1_000_000, INVALID, ['a watch list', 'values'], 'Spread them over several lists and [Or].'),
  listValuesByAccount: countLimit(
    5_000_000,
    INVALID,
    ['an account', 'values in all of its watch lists'],
    'Remove values that you no longer need.',
  ),
  listValue: bytesLimit('256B', INVALID, ['a value of a watch list', 'text'], 'Use a shorter text.'),
  silences: countLimit(
    1_000,
    INVALID,
    ['an account', 'silences that are not over'],
    'Remove some, or name several rules in one.',
  ),
  ruleReadings: countLimit(
    100,
    INVALID,
    ['a rule', 'balances to read'],
    'Spread the addresses over several rules, with more blocks between their readings.',
  ),
  ruleMatches: countLimit(
    2_000,
    INVALID,
    ['an account', 'matches in one block'],
    'No alerts are made for further matches: narrow the conditions of the rules.',
  ),
  ruleKeys: countLimit(
    100_000,
    INVALID,
    ['a rule', 'keys in its windows'],
    'Matches of further keys are left out: narrow the conditions of the rule.',
  ),
  ruleRows: countLimit(
    1_000_000,
    INVALID,
    ['a rule', 'rows in its windows, one for each key and block'],
    'Further matches are left out: narrow the conditions of the rule, or shorten its windows.',
  ),
  series: countLimit(
    500_000,
    ILLEGAL,
    ['a request for series', 'numbers, which are rules times buckets'],
    'Ask for fewer buckets, or for some of the rules.',
  ),
  simulatedReadings: countLimit(
    10_000,
    ILLEGAL,
    ['a simulation of a State rule', 'readings'],
    'Take fewer blocks, or a larger every.blocks: each balance or call counts at each block that is read.',
  ),
  simulations: countLimit(
    4,
    REJECTED,
    ['an account', 'simulations and tests of rules under way'],
    'Try again when one of them has ended.',
  ),

  // Deliveries.
  deliveriesByAccount: countLimit(
    100,
    REJECTED,
    ['an account', 'deliveries under way'],
    'Further deliveries wait. Those that take longer than a second are counted separately, up to four times as many.',
  ),
  queuedDeliveries: countLimit(
    100_000,
    REJECTED,
    ['an account', 'queued deliveries'],
    'Further deliveries to a slow receiver are dead. Deliver them again later, in smaller ranges.',
  ),

  // Nodes and packs.
  nodeAnswer: bytesLimit(
    '64MB',
    'node_answer_too_large',
    ['an answer of a node', 'JSON'],
    'Fewer blocks are requested at once, down to one.',
  ),
  nodeAnswers: bytesLimit(
    '256MB',
    'node_answer_too_large',
    ['a network', 'node answers under way'],
    'Later requests wait.',
  ),
  callAnswer: bytesLimit(
    '256kB',
    'node_answer_too_large',
    ['an answer to eth_call, eth_getCode or eth_getStorageAt', 'JSON'],
    'It counts as no answer.',
  ),
  packLine: bytesLimit(
    '128MB',
    'pack_line_too_long',
    ['a line of a block pack', 'JSON'],
    'A line holds one block: check that this is a block pack, with one JSON object on each line.',
  ),
  extraData: bytesLimit(
    '256kB',
    'block_inconsistent',
    ['a block', 'extraData'],
    'Ethereum allows 32 bytes, and chains with a list of validators some kilobytes: use another node.',
  ),
  extraMembers: bytesLimit(
    '1MB',
    'block_inconsistent',
    ['a block, transaction or receipt', 'unknown members'],
    'They are kept in extra. Raise the limit if the chain has so much.',
  ),
  callData: bytesLimit(
    '16MB',
    'block_inconsistent',
    ['an input, output, code or log', 'data'],
    'No known chain has gas for more in one block: use another node.',
  ),

  // Files.
  auditEntries: countLimit(
    100_000,
    REJECTED,
    ['an account', 'entries in the audit trail'],
    'The oldest ones are removed. So are those of refused tokens, which count together.',
  ),
  abiUpload: bytesLimit(
    '2MB',
    'content_too_large_exception',
    ['an ABI that is uploaded', 'text'],
    'Add a longer one at the server, with chainsieve abi add.',
  ),
  abiFile: bytesLimit(
    '128MB',
    'bad_abi',
    ['an ABI file', 'text'],
    'From a list of signatures, keep those that your contracts use.',
  ),
  inputFile: bytesLimit(
    '64MB',
    'file_too_large',
    ['a file that a command reads', 'text'],
    'Split it: a command takes several files.',
  ),
} satisfies Record<string, Limit>

export type LimitName = keyof typeof LIMITS
