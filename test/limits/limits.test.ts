import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  DEFAULT_LIMITS,
  LIMITS,
  type Limit,
  type LimitName,
  overLimit,
  parseAmount,
  showAmount,
} from '../../src/limits/index.ts'

test('every limit has a default of its unit, and says what to do in a sentence', () => {
  for (const [name, { unit, fallback, code, remedy }] of Object.entries<Limit>(LIMITS)) {
    const most = parseAmount(unit, fallback)
    assert.ok(most, name)
    assert.equal(parseAmount(unit, showAmount(unit, most)), most, name)
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
    showAmount('count', 1_000),
    showAmount('bytes', 16_000_000),
    showAmount('bytes', 1_500),
    showAmount('duration', 90_000),
    showAmount('duration', 3_600_000),
  ]
  assert.deepEqual(shown, ['1000', '16MB', '1500B', '90s', '1h'])
})

test('what has more than its limit is told the limit, what to do, and its name', () => {
  const limits = { ...DEFAULT_LIMITS, clauses: 3, body: 2_000 }
  assert.equal(
    overLimit('clauses', limits, 'query.bool').message,
    'query.bool has more than 3 clauses. Write values of one field as [terms], or ask in several searches. The operator can raise this with --limit clauses=N.',
  )
  assert.equal(
    overLimit('body', limits).message,
    'A request has more than 2kB of data in its body. Ask for less in one request. The operator can raise this with --limit body=N.',
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
The server has more than 4096 connections. Further ones are closed at once: keep connections open and use them again. Where the process may have few files open (ulimit -n), half of those are the limit.
An address has more than 512 connections. Keep connections open and use them again. IPv6 addresses count by their first 64 bits; the machine of the server itself may have three quarters of all connections, for a proxy on it.
A request has more than 32kB of headers. Send what is long in the body of the request.
A request has more than 16MB of data in its body. Ask for less in one request.
The server has more than 128MB of request bodies under way. Ask again in a moment.
An account has more than 48MB of request bodies under way. Send smaller ones, or wait for answers before the next.
A query has more than 4096 clauses. Write values of one field as [terms], or ask in several searches.
A query has more than 65536 values in lists. Ask in several searches, or by what the values have in common.
A query has more than 200000 JSON values. Ask in several searches, or by what the values have in common.
A query has more than 100 levels of nested objects and lists. Flatten the query: a list of clauses in one bool means the same as bools inside each other.
A search text has more than 10000 characters. Search by its beginning, or by the words that matter.
A query has more than 16 sort keys. Leave out the last ones, which seldom decide.
A query has more than 500 patterns for _source. Name an object for all that is in it, or use *.
A query has more than 16 names of time zones. Write offsets such as +02:00, or times in UTC.
A date format has more than 16 alternatives. Keep those that the dates of the query are written in.
A query has more than 100MB of hits and keys to sort. Sort by the order of the chain (_doc, timestamp or blockNumber.num), which needs none, or narrow the query.
A search has more than 500 aggregations. Ask for some of them in another search.
An aggregation has more than 20 levels of aggregations inside each other. Use composite, which takes several fields at one level.
An aggregation has more than 256 ranges or filters. Use histogram or terms, or several aggregations.
An answer has more than 65536 buckets. Ask for longer intervals, a smaller size or a shorter time, or page through a composite aggregation.
A search has more than 300MB of data to aggregate. Narrow the query, or aggregate by a field with fewer values.
The server has more than 256MB of what it read of stores and keeps for the next search. What was used first is forgotten: dashboards over much data take longer.
An account has more than 256 waiting searches. Wait for answers before asking more, or ask for more in one search.
An account has more than 64MB of waiting searches. Wait for answers before asking more, or ask in smaller bodies.
An account has more than 16 answers to "size": -1 under way. Read one to its end, or close its connection, before asking for the next.
A request has more than 1000 searches (_msearch). Spread them over several requests.
A request has more than 64MB of documents (_mget). Ask for fewer of them, or for less of each by [_source].
An account has more than 500 open scrolls and points in time. Close those that are no longer needed; each closes by itself when its keep-alive is over.
A scroll has more than 256kB of text in its query. Page through a large query with search_after, for which the server need not keep it.
A client needs more than 1m to take the next part of an answer. Its connection is closed then: read on, or ask for fewer hits.
An account has more than 10000 rules. Delete those that are no longer needed, or write several as one with [Equals any].
An account has more than 16MB of rules in all. Delete those that are no longer needed, or shorten the lists in them.
A rule has more than 128kB of JSON. Split it into several rules.
A name has more than 1kB of text. Write what is long into the description of the rule.
A description or the message of an alert has more than 16kB of text. Shorten it.
A rule has more than 250 conditions. Write values of one field as [Equals any], or split the rule into several.
A rule has more than 2000 values to compare with. Spread them over several rules.
A field or a value in a rule has more than 4kB of text. Compare with something shorter.
The URL of an alert has more than 4kB of text. Send what is long as [payload].
An alert has more than 50 recipients. Send it to a mailing list.
The payload of an alert has more than 100 fields. Name the field that holds them: all that is in it is sent then.
An account has more than 2000 matches in one block. Those beyond it are not told: make the conditions of its rules narrower.
An account has more than 4 simulations and tests of rules under way. Ask again when one of them is done.
An account has more than 100 deliveries under way. Further ones wait; those that take longer than a second are counted apart, up to four times as many.
An account has more than 100000 queued deliveries. What a receiver cannot take meanwhile is dead, and can be delivered again in smaller ranges.
An answer of a node has more than 64MB of JSON. Fewer blocks are asked for at once, down to one.
A network has more than 256MB of node answers under way. Those that began later wait.
An answer to eth_call, eth_getCode or eth_getStorageAt has more than 256kB of JSON. It counts as no answer.
A line of a block pack has more than 128MB of JSON. A line holds one block: check that this is a block pack, with one JSON object on each line.
A block has more than 256kB of extraData. Ethereum allows 32 bytes, chains with a list of validators some kilobytes: ask another node.
An input, output, code or log has more than 16MB of data. No more fits into the gas of a block on any known chain: ask another node.
An ABI file has more than 128MB of text. Of a list of signatures, give those that your contracts use.
A file that a command reads has more than 16MB of text. Split it: a command takes several files.
`,
  )
})
