import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  DEFAULT_LIMITS,
  formatUnitAmount,
  LIMITS,
  type Limit,
  type LimitName,
  overLimit,
  parseAmount,
} from '../../src/limits/index.ts'

test('every limit has a default of its unit, and says what to do in a sentence', () => {
  for (const [name, { unit, fallback, code, remedy }] of Object.entries<Limit>(LIMITS)) {
    const most = parseAmount(unit, fallback)
    assert.ok(most, name)
    assert.equal(parseAmount(unit, formatUnitAmount(unit, most)), most, name)
    assert.match(code, /^[a-z_]+$/, name)
    assert.match(remedy, /^[A-Z].*\.$/, name)
  }
})

test('amounts are read with their unit', () => {
  const read = [
    parseAmount('count', '2000'),
    parseAmount('count', '2_000'),
    parseAmount('bytes', '1.5 MB'),
    parseAmount('bytes', '1KiB'),
    parseAmount('duration', '2m'),
    parseAmount('count', '0'),
    parseAmount('count', '1.5'),
    parseAmount('count', '-1'),
    parseAmount('count', '5MB'),
    parseAmount('bytes', '16'),
    parseAmount('bytes', '1constructor'),
    parseAmount('count', ''),
    parseAmount('count', '99999999999999999'),
  ]
  assert.deepEqual(read, [2_000, 2_000, 1_500_000, 1_024, 120_000, ...Array(8).fill(undefined)])
})

test('an amount is shown in the largest unit that it fills', () => {
  const shown = [
    formatUnitAmount('count', 1_000),
    formatUnitAmount('bytes', 16_000_000),
    formatUnitAmount('bytes', 1_500),
    formatUnitAmount('duration', 90_000),
    formatUnitAmount('duration', 3_600_000),
  ]
  assert.deepEqual(shown, ['1000', '16MB', '1500B', '90s', '1h'])
})

test('what has more than its limit is told the limit, what to do, and its name', () => {
  const limits = { ...DEFAULT_LIMITS, clauses: 3, body: 2_000 }
  assert.equal(
    overLimit('clauses', limits, 'query.bool').message,
    'query.bool has more than 3 clauses. Combine values of one field in [terms], or use several searches. The operator can raise this with --limit clauses=N.',
  )
  assert.equal(
    overLimit('body', limits).message,
    'A request has more than 2kB of data in its body. Send less in one request. The operator can raise this with --limit body=N.',
  )
})

test('every limit says in plain words what is too much, and what to do', () => {
  const sentences = Object.entries<Limit>(LIMITS).map(([name, { remedy }]) => {
    const { message } = overLimit(name as LimitName, DEFAULT_LIMITS)
    return message.slice(0, message.indexOf(remedy) + remedy.length)
  })
  assert.equal(
    `\n${sentences.join('\n')}\n`,
    `
The server has more than 4096 connections. Further connections are closed at once: keep connections open and reuse them. If the process may have few files open (ulimit -n), half of those are the limit.
An address has more than 512 connections. Keep connections open and reuse them. IPv6 addresses count by their first 64 bits. The machine of the server itself may have three quarters of all connections, for a proxy on it.
A token has more than 6000000 requests in a minute. Wait until the minute is over, as Retry-After says. The header RateLimit shows what is left.
An account has more than 6000000 requests in a minute with all of its tokens. Wait until the minute is over, as Retry-After says. The header RateLimit shows what is left.
An address has more than 120 refused tokens in a minute. Send a valid token: requests with one are still answered. IPv6 addresses count by their first 64 bits.
A request has more than 32kB of headers. Send long values in the body of the request.
A request has more than 16MB of data in its body. Send less in one request.
A request that is no search has more than 1MB of data in its body. Spread it over several requests. Searches, templates and lines of _msearch may be as large as [body] allows.
The server has more than 128MB of request bodies under way. Try again in a moment.
An account has more than 48MB of request bodies under way. Send smaller bodies, or wait for answers before you send more.
A request has more than 1000 names of indices, fields, columns or rules in its lists. Spread them over several requests, or use a pattern such as *.
A request has more than 100 patterns with * in its lists of names. Use a pattern that matches more, or *.
A name, pattern, key or format has more than 1000 characters. Use a shorter one: answers repeat it.
The meta of an aggregation has more than 16kB of text. Shorten it: answers repeat it.
The URL parameter [filter_path] has more than 500 names in its patterns, between commas and dots. Name an object to keep all of it, or use **.
An answer has more than 128MB of data. Ask for fewer hits or buckets, for less of each by [_source] or [filter_path], or for all hits as a stream by "size": -1.
A query has more than 4096 clauses. Combine values of one field in [terms], or use several searches.
A query has more than 65536 values in lists. Use several searches, or search by what the values have in common.
A query has more than 200000 JSON values. Use several searches, or search by what the values have in common.
A query has more than 100 levels of nested objects and lists. Flatten the query: a list of clauses in one bool means the same as bools inside each other.
A search text has more than 10000 characters. Search by its beginning, or by the words that matter.
The text of _analyze has more than 10000 characters. Spread it over several requests.
A template has more than 4MB of output, with what it reads to make it. Shorten its lists and loops, or send the query itself.
A query has more than 16 sort keys. Leave out the last keys, which seldom matter.
A query has more than 500 patterns for _source. Name an object to select all of it, or use *.
A query has more than 16 names of time zones. Write offsets such as +02:00, or times in UTC.
A date format has more than 16 alternatives. Keep the formats that the query uses.
A query has more than 100MB of hits and keys to sort. Sort by the order of the chain (_doc, timestamp or blockNumber.num), which needs none, or narrow the query.
A search has more than 500 aggregations. Ask for some of them in another search.
An aggregation has more than 20 levels of aggregations inside each other. Use composite, which takes several fields at one level.
An aggregation has more than 256 ranges or filters. Use histogram or terms, or several aggregations.
An answer has more than 65536 buckets. Ask for longer intervals, a smaller size or a shorter time, or page through a composite aggregation.
A request for the gas price has more than 200 blocks. Ask for a shorter range by [from] and [to].
A search has more than 300MB of data to aggregate. Narrow the query, or aggregate by a field with fewer values.
The server has more than 256MB of data that it keeps in memory for the next search. The oldest data is forgotten: dashboards over much data take longer.
An account has more than 256 waiting searches. Wait for answers before you send more, or combine searches.
An account has more than 64 searches under way that take longer than some 20 milliseconds. Further ones wait for their turn. However high it is, one thread of --readers stays free of them, and another one for other accounts.
An account has more than 64MB of waiting searches. Wait for answers before you send more, or send smaller bodies.
An account has more than 16 answers to "size": -1 under way. Read one to its end, or close its connection, before you start the next.
The header of a search (_msearch) has more than 32kB of JSON. Name fewer indices, or use a pattern such as *.
A request has more than 1000 searches (_msearch). Spread them over several requests.
A request has more than 10000 ids (_mget). Spread them over several requests, or use [terms] on _id.
A request has more than 64MB of documents (_mget). Ask for fewer documents, or for less of each by [_source].
An account has more than 500 open scrolls and points in time. Close those that you no longer need. Each closes by itself when its keep-alive ends.
A request has more than 1000 ids of scrolls or points in time to close. Close them in several requests, or all of the account by _all.
A scroll has more than 256kB of text in its query. Use search_after for a large query: the server does not keep it.
A client needs more than 1m to take the next part of an answer. The connection is closed: read faster, or ask for fewer hits.
An account has more than 10000 rules. Delete rules that you no longer need, or combine several with [Equals any].
A request has more than 1000 rules to create. Spread them over several requests: each creates all of its rules or none.
An account has more than 16MB of rules in all. Delete rules that you no longer need, or shorten the lists in them.
A rule has more than 128kB of JSON. Split it into several rules.
A name has more than 1kB of text. Put long text into the description of the rule.
A description or the message of an alert has more than 16kB of text. Shorten it.
A rule has more than 250 conditions. Combine values of one field in [Equals any], or split the rule.
A rule has more than 2000 values to compare with. Spread the values over several rules.
A field or a value in a rule has more than 4kB of text. Use a shorter text.
The URL of an alert has more than 4kB of text. Send long values as [payload].
An alert has more than 50 recipients. Use a mailing list.
The payload of an alert has more than 100 fields. Name the field that contains them: all of it is sent.
An account has more than 100 watch lists. Delete lists that no rule uses, or join some.
A watch list has more than 1000000 values. Spread them over several lists and [Or].
An account has more than 5000000 values in all of its watch lists. Remove values that you no longer need.
A value of a watch list has more than 256B of text. Use a shorter text.
An account has more than 1000 silences that are not over. Remove some, or name several rules in one.
A rule has more than 100 balances to read. Spread the addresses over several rules, with more blocks between their readings.
An account has more than 2000 matches in one block. No alerts are made for further matches: narrow the conditions of the rules.
A rule has more than 100000 keys in its windows. Matches of further keys are left out: narrow the conditions of the rule.
A rule has more than 1000000 rows in its windows, one for each key and block. Further matches are left out: narrow the conditions of the rule, or shorten its windows.
A request for series has more than 500000 numbers, which are rules times buckets. Ask for fewer buckets, or for some of the rules.
A simulation of a State rule has more than 10000 readings. Take fewer blocks, or a larger every.blocks: each balance or call counts at each block that is read.
An account has more than 4 simulations and tests of rules under way. Try again when one of them has ended.
An account has more than 100 deliveries under way. Further deliveries wait. Those that take longer than a second are counted separately, up to four times as many.
An account has more than 100000 queued deliveries. Further deliveries to a slow receiver are dead. Deliver them again later, in smaller ranges.
An answer of a node has more than 64MB of JSON. Fewer blocks are requested at once, down to one.
A network has more than 256MB of node answers under way. Later requests wait.
An answer to eth_call, eth_getCode or eth_getStorageAt has more than 256kB of JSON. It counts as no answer.
A line of a block pack has more than 128MB of JSON. A line holds one block: check that this is a block pack, with one JSON object on each line.
A block has more than 256kB of extraData. Ethereum allows 32 bytes, and chains with a list of validators some kilobytes: use another node.
A block, transaction or receipt has more than 1MB of unknown members. They are kept in extra. Raise the limit if the chain has so much.
An input, output, code or log has more than 16MB of data. No known chain has gas for more in one block: use another node.
An account has more than 100000 entries in the audit trail. The oldest ones are removed. So are those of refused tokens, which count together.
An ABI that is uploaded has more than 2MB of text. Add a longer one at the server, with chainsieve abi add.
An ABI file has more than 128MB of text. From a list of signatures, keep those that your contracts use.
A file that a command reads has more than 64MB of text. Split it: a command takes several files.
`,
  )
})
